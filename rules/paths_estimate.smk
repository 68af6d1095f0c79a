# What an estimate reads, and what it cannot tell before a run.


def planned():
    """Returns the plans that need no chatbot's dialogues, by protocol."""
    return {protocol: f"{RESULTS}/requests/{protocol}.parquet" for protocol in askers()}


def asked_question(protocol):
    """Returns what is asked under a protocol, of whom, and whether in rounds."""
    asked = PROTOCOLS[protocol]
    return question(protocol) | {"judges": asked.judges, "adaptive": asked.adaptive}


def asked_before(protocol):
    """Returns the models that would have to be paid for what a protocol asks about; an estimate asks none of them."""
    return CONFIG.asked_before(protocol)


def planned_before():
    """Returns the plans that rest on what models wrote, where an earlier run has made them."""
    return [
        path
        for protocol, path in planned().items()
        if asked_before(protocol) and Path(path).exists()
    ]


def already_trained(names):
    """Returns the folders of models that an earlier run has trained, by which their stored answers are found."""
    return [
        f"{RESULTS}/trained/{name}"
        for name in names
        if CONFIG.models[name].learns_from
        and Path(f"{RESULTS}/trained/{name}.digest").exists()
    ]


def asked_of_samples():
    """Returns at most how many requests about samples of translations a model gets; they are drawn once there are any."""
    most = {}
    for _, corpus, _, models in QUALITY.values():
        for name in models:
            sample = CONFIG.translate[corpus].quality.sample
            most[name] = most.get(name, 0) + sample
    return most


def not_estimated():
    """Returns what is asked besides, in words."""
    written = CONFIG.dialogbench.written if CONFIG.dialogbench else None
    classifier = CONFIG.dialogbench.classifier if CONFIG.dialogbench else None
    asked = {
        "writes test items": written and written.writer,
        "filters test items": written and written.filter,
        "describes test items": classifier,
        "rewrites items": CONFIG.robustness and CONFIG.robustness.rewriter,
    }
    parts = [
        f"what {name} is asked when it {task}" for task, name in asked.items() if name
    ]
    parts += [
        f"{protocol}, which asks about what {' and '.join(asked_before(protocol))} must write first"
        for protocol, path in planned().items()
        if asked_before(protocol) and not Path(path).exists()
    ]
    parts += [
        f"what {name} is asked about samples of the translations (at most {most:,} requests)"
        for name, most in asked_of_samples().items()
    ]
    untrained = [name for name in trained_judges() if not already_trained([name])]
    if untrained:
        parts.append(
            f"the training of {', '.join(untrained)}, which takes time here and bills nothing"
        )
    return parts + [f"{protocol} asked again" for protocol in ASKED_AGAIN]


# It depends on the store, which Snakemake does not see; a rule without outputs runs whenever it is asked for.


def planned_designs():
    """Returns the protocols about dialogues of systems, and whether people label these."""
    labelled = labelled_protocols() if CONFIG.labels else []
    return [
        {
            "design": design_of(CONFIG, name),
            "form": protocol.form,
            "repeats": protocol.repeats,
            "ends": score_ends(name),
            "labelled": name in labelled,
        }
        for name, protocol in shown_protocols().items()
    ]


def score_ends(protocol):
    """Returns the lowest and highest score of each criterion that is scored under a protocol."""
    if PROTOCOLS[protocol].form != "scale":
        return {}
    return {
        one.name: (one.scale.low, one.scale.high)
        for one in CONFIG.criteria_of(protocol)
    }


def label_plan():
    """Returns how much people label, if they do."""
    section = CONFIG.labels
    return section and {
        "n": section.n,
        "answers": min(
            section.each or len(section.annotators), len(section.annotators)
        ),
        "price": section.price,
        "target": section.target,
        "confidence": section.confidence,
    }


def judged_before():
    """Returns the judgements about dialogues of systems that an earlier run has made."""
    return [path for path in report_verdicts() if Path(path).exists()]


def corrected_before():
    """Returns the numbers that an earlier run has corrected by people's labels."""
    path = f"{RESULTS}/tables/labels/corrected.parquet"
    return [path] if CONFIG.labels and Path(path).exists() else []
