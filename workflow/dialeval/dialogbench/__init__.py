"""DialogBench: twelve multiple-choice tasks on dialogues are written, checked, filtered and put to models."""
