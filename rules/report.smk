rule report:
    input:
        rules.botchat.input,
