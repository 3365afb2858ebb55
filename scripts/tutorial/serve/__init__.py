"""The workbench: `make serve`. docs/workbench.md describes it."""
