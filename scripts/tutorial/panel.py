"""The playground's panel as one script for a page. It is written in pieces, docs/playground/panel/*.js."""

from tutorial import ROOT

# In this order, in one scope of their own: a class comes before those that extend it.
PIECES = ("html", "fields", "counters", "source", "pictures", "step_through", "break_it", "lesson_panel", "own_kernel_panel",
          "predict_first", "page")

HEAD = """\
// What a reader sees and uses of the playground: a panel that runs the kernels of a lesson's page. The page holds
//
//     <details class="playground" data-lesson="lesson03" data-scripts="engine.js lesson03.js">
//     <summary>Run it in this page</summary></details>
//
// `make playground` makes the scripts. They are fetched when the panel is first opened: by script elements, since that also
// works in a page that was opened from a file.
"use strict";

(() => {
"""


def panel_script():
    pieces = ((ROOT / f"docs/playground/panel/{name}.js").read_text(encoding="utf-8") for name in PIECES)
    return HEAD + "\n".join(pieces) + "})();\n"
