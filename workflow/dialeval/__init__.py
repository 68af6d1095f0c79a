"""DialEval: how well does a chat model hold a conversation, and how far can its judge be trusted?"""

__version__ = "0.1.0"
