"""The network path to members, read from kernels hop by hop."""
