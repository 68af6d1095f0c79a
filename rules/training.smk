# Judges that learn: their training data is made of human dialogues, without those that are judged.

TRAINING = Training(LAYOUT, SOURCES)


rule training:
    """Makes training sets, trains judges and measures the result."""
    input:
        paths.training_files,


use rule stage as judged_texts with:
    """Lists the passages that are judged, so that no judge learns from them."""
    input:
        items_=paths.judged_items,
        seeds=paths.judged_seeds,
        human=paths.judged_human,
    output:
        texts=paths.JUDGED_TEXTS,
    pathvars:
        part="training/judged",
    group:
        grouped(GROUPS.preparing)
    params:
        **job(TRAINING.judged_texts),


use rule stage as check_overlap with:
    """Finds the dialogues of a training set that are judged later."""
    input:
        utterances=paths.training_dialogues,
        judged=paths.JUDGED_TEXTS,
    output:
        overlap=paths.OVERLAP,
    pathvars:
        part="training/{training}/overlap",
    wildcard_constraints:
        training=one_of(CONFIG.training),
    group:
        grouped(GROUPS.preparing)
    params:
        **job(TRAINING.check_overlap),


use rule stage as make_training_data with:
    """Makes the training pairs of original and corrupted dialogues."""
    input:
        utterances=paths.training_dialogues,
        left_out=by(TRAINING.left_out),
    output:
        examples=paths.EXAMPLES,
    pathvars:
        part="training/{training}/examples",
    wildcard_constraints:
        training=one_of(CONFIG.training),
    group:
        grouped(GROUPS.preparing)
    params:
        **job(TRAINING.make_training_data),


use rule stage as tabulate_training_data with:
    """Tabulates the training sets."""
    input:
        examples=expand(paths.EXAMPLES, training=CONFIG.made_training()),
        overlaps=expand(paths.OVERLAP, training=CONFIG.made_training()),
    output:
        LAYOUT.training_data_table(),
    pathvars:
        part="tables/training_data",
    group:
        grouped("report")
    params:
        **job(TRAINING.tabulate_training_data, in_folder=True),


use rule stage as tabulate_training with:
    """Tabulates the AUC of trained judges."""
    input:
        examples=expand(paths.EXAMPLES, training=CONFIG.used_training()),
        trained=expand(paths.TRAINED, judge=LAYOUT.trained_judges()),
    output:
        LAYOUT.learning_tables(),
    pathvars:
        part="tables/training",
    group:
        grouped("report")
    params:
        **job(TRAINING.tabulate_training, in_folder=True),


use rule stage as train_lora with:
    """Trains a LoRA adapter with which a language model judges."""
    input:
        examples=paths.judges_examples,
    output:
        trained=directory(paths.TRAINED),
        digest=paths.TRAINED_DIGEST,
    pathvars:
        part="trained/{judge}",
    wildcard_constraints:
        judge=one_of(LAYOUT.lora_judges()),
    conda:
        "../envs/train.yaml"
    resources:
        **resources(TRAINING.train_lora, trains=True),
    params:
        **job(TRAINING.train_lora, "content", checkpoints=paths.checkpoints),


use rule train_lora as train_encoder with:
    """Trains an encoder that scores turns or dialogues."""
    wildcard_constraints:
        judge=one_of(LAYOUT.encoder_judges()),
    resources:
        **resources(TRAINING.train_encoder, trains=True),
    params:
        **job(TRAINING.train_encoder, "content", checkpoints=paths.checkpoints),
