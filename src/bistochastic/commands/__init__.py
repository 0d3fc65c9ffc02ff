"""The commands of analysts and judges, one file each; `cli` gathers them."""
