"""Every picture that people are shown, each with the numbers it stands for."""
