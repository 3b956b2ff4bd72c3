"""Studies behind Figures 3 and 10 to 14: modified attention, trained in pairs."""
