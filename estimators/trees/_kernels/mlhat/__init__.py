"""Kernels of MLHAT, the Hoeffding adaptive tree for all labels."""
