# Which jobs go to a cluster's node together, in one submission. On one machine groups are without effect.
#
# Jobs that ask a model which computes on a GPU or behind an endpoint, and jobs that train, go alone; all others take
# seconds. A job only ever needs jobs of its own group and of what stands above it here, so no group waits for itself:
#
#   reading            corpora, transcripts, seeds, damage by rule, embedded models' learning
#                          translations, alone
#   preparing          translated corpora, training sets
#                          translations back and training, alone
#   back_translations  what they say
#                          self-chat, rewriting, writing and filtering of test items, alone
#   asking             embedded models' self-chat, what judges and the examined are asked
#                          judges' answers, alone
#   asking_again       embedded models' answers that something is asked again of, and what that is
#                          answers to it, alone
#   choosing           judgements of a cascade's first judge, and what the second is asked
#                          its answers, alone
#   items              embedded models' answers about rated and damaged items, judgements, meta-evaluation, robustness
#   examination        embedded models' answers to test items, DialogBench's tables
#   dialogues          embedded models' answers about dialogues of systems, judgements, measures, labels
#   report             training, translation, trust, the page, usage

# where nothing is submitted, groups would only cost: Snakemake looks through all jobs for each job of a group
GROUPED = (
    workflow.exec_mode != ExecMode.DEFAULT
    or workflow.resource_settings.nodes is not None
)

# where a model translates that learned from dialogues, some training comes before some translation
PREPARING = (
    None if any(model.learns_from for model in named(translators())) else "preparing"
)


def grouped(group):
    """Returns a rule's group where jobs are submitted: a name, or what gives one by wildcards."""
    return group if GROUPED else None


def goes_alone(*names):
    """Returns whether one of some models is not embedded, so that its answers are worth a submission."""
    return any(not isinstance(model, EmbeddedModel) for model in named(names))


def of_talks(wildcards):
    return None if goes_alone(wildcards.chatbot, PARTNER) else "asking"


def of_rewriting(wildcards):
    return None if goes_alone(wildcards.model) else "asking"


def of_maker(part, group):
    """Returns the group of what makes a part of test items; without a model, rules make it."""
    return None if goes_alone(item_makers()[part]) else group


def of_parsing(wildcards):
    cascade = CASCADES.get(wildcards.protocol)
    if cascade and cascade.first == wildcards.judge:
        return "choosing"
    return of_measures(wildcards)


def of_answers(wildcards):
    if goes_alone(wildcards.judge):
        return None
    again = wildcards.protocol in ASKED_AGAIN
    return "asking_again" if again else of_parsing(wildcards)


def of_answers_again(wildcards):
    return None if goes_alone(wildcards.judge) else of_parsing(wildcards)


def of_measures(wildcards):
    """Returns the group of what is said and measured under a protocol."""
    if wildcards.protocol.startswith("dialogbench_"):
        return "examination"
    protocol = PROTOCOLS.get(wildcards.protocol)
    return "items" if protocol and scores_items(protocol) else "dialogues"


def of_ensembles(wildcards):
    """Returns the group of the mean of several judges: where they meet under no protocol, they do on items."""
    protocol = PROTOCOLS.get(wildcards.method)
    return "dialogues" if protocol and not scores_items(protocol) else "items"
