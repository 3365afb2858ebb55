"""Tests in Chromium, as Debian has it."""

import shutil
import unittest

LONGEST = 300  # seconds for what happens by itself unless something is broken, on however busy a machine

# Text below the element that the selector names, whose contrast with what lies behind it is below 4.5, the least that WCAG's
# level AA allows.
FAINT = """
    // Through a canvas, as colors have many notations.
    const context = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
    const over = (color, below) => {
        context.globalAlpha = 1;
        context.fillStyle = `rgb(${below})`;
        context.fillRect(0, 0, 1, 1);
        context.fillStyle = color;
        context.fillRect(0, 0, 1, 1);
        return [...context.getImageData(0, 0, 1, 1).data.slice(0, 3)];
    };
    const light = ([r, g, b]) => {
        const part = c => c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4;
        return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
    };
    const back = element => {
        const below = element.parentElement ? back(element.parentElement) : [255, 255, 255];
        return over(getComputedStyle(element).backgroundColor, below);
    };
    const opacity = element => element ? getComputedStyle(element).opacity * opacity(element.parentElement) : 1;
    const texts = document.createTreeWalker(document.querySelector(arguments[0]), NodeFilter.SHOW_TEXT), faint = [];
    while (texts.nextNode()) {
        const element = texts.currentNode.parentElement;
        if (!texts.currentNode.data.trim() || !element.checkVisibility() || element.closest("option, svg")) continue;
        const below = back(element), solid = over(getComputedStyle(element).color, below), share = opacity(element);
        const color = solid.map((c, k) => share * c + (1 - share) * below[k]);
        const [dark, bright] = [light(color), light(below)].sort((a, b) => a - b);
        if ((bright + 0.05) / (dark + 0.05) < 4.5) faint.push(texts.currentNode.data);
    }
    return faint;
"""


class InBrowser(unittest.TestCase):
    """With `self.driver`. Skipped where there is no Selenium or no chromedriver."""

    @classmethod
    def setUpClass(cls):
        try:
            from selenium import webdriver
            from selenium.webdriver.chrome.service import Service
        except ImportError:
            raise unittest.SkipTest("no Selenium here") from None
        driver = shutil.which("chromedriver")
        if not driver:
            raise unittest.SkipTest("no chromedriver here")
        options = webdriver.ChromeOptions()
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        # Unless it is told the driver, a newer Selenium looks for a program of its own, which Debian leaves out.
        cls.driver = webdriver.Chrome(options=options, service=Service(driver))
        cls.driver.set_page_load_timeout(LONGEST)
        cls.driver.set_script_timeout(LONGEST)

    @classmethod
    def tearDownClass(cls):
        cls.driver.quit()

    def set_mode(self, _, width, height, is_dark):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500})
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}]})

    def touch(self, element, across=0.5):
        """As a finger does: what lies above the element gets the touch, not the element. Returns what got it."""
        point = self.driver.execute_script("""
            const box = arguments[0].getBoundingClientRect();
            return {x: box.left + arguments[1] * box.width, y: box.top + box.height / 2};""", element, across)
        self.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [point]})
        self.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        return self.driver.execute_script("return document.elementFromPoint(arguments[0], arguments[1]).outerHTML",
                                          point["x"], point["y"])[:200]

    def wait(self, condition):
        from selenium.webdriver.support.ui import WebDriverWait
        WebDriverWait(self.driver, LONGEST).until(condition)
