"""The gateway of the control cluster, through which every ModelService answers."""
