"""Trees, forests and thresholds weighted by PRAGMA."""
