"""How well judges agree with people, two judges compared, and rankings of judges."""
