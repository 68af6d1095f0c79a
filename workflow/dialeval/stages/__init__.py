"""Stages of the workflow, each a function and a command: `python -m dialeval.stages STAGE --help`.

They work by hand, without Snakemake. `FIRST+SECOND` runs several in one process, one after the other: each takes those
of the options and settings that it has.
"""

from __future__ import annotations

from dialeval.errors import UserError, nearest

STAGES: dict[str, tuple[str, ...]] = {
    "corpora": (
        "download",
        "read_corpus",
        "learn_embedded",
        "extract_seeds",
        "seed_lengths",
        "find_contamination",
        "plan_completion",
        "measure_memorization",
        "read_transcripts",
        "read_scenarios",
        "read_rated",
        "read_scores",
        "import_dialogues",
        "judged_texts",
        "merge_shards",
        "choose_tokenizer",
        "utterance_lengths",
    ),
    "selfchat": (
        "selfchat",
        "selfchat_items",
    ),
    "judging": (
        "plan_pair",
        "plan_scale",
        "plan_probability",
        "plan_locate",
        "plan_annotate",
        "plan_retries",
        "import_answers",
        "parse_pair",
        "parse_scale",
        "parse_probability",
        "parse_locate",
        "parse_annotate",
        "find_failures",
    ),
    "answering": (
        "answer",
        "answer_items",
    ),
    "adaptive": (
        "answer_adaptively",
        "tabulate_rounds",
    ),
    "judge_panels": (
        "sample_cascade",
        "cascade_judgements",
        "ensemble_judgements",
    ),
    "measures": (
        "measure_means",
        "measure_rates",
        "measure_pass_rates",
        "measure_pass_rates_at_gt_length",
        "measure_win_rates",
        "measure_ratings",
        "measure_differences",
        "measure_agreement",
        "measure_bias",
        "measure_checklist",
        "measure_examples",
        "measure_ranks",
        "measure_judge_differences",
        "measure_variance_components",
        "rate_battles",
        "correct",
    ),
    "metaeval": (
        "impute_ratings",
        "find_ceilings",
        "correlate",
        "ensembles",
        "tabulate_agreement",
        "tabulate_by_language",
        "tabulate_rated",
        "tabulate_repeats",
        "tabulate_judge_validity",
        "robustness",
    ),
    "perturbations": (
        "construct_rated",
        "perturb_items",
        "rewrite_items",
        "check_overlap",
    ),
    "dialogbench": (
        "dialogbench_read",
        "dialogbench_classify",
        "dialogbench_write",
        "dialogbench_filter",
        "dialogbench_sheet",
        "dialogbench_plan",
        "dialogbench_parse",
    ),
    "dialogbench_results": (
        "dialogbench_tables",
        "dialogbench_experts",
    ),
    "labels": (
        "draw_to_label",
        "labelling_page",
        "read_labels",
    ),
    "training": (
        "make_training_data",
        "train_encoder",
        "train_lora",
        "tabulate_training_data",
        "tabulate_training",
    ),
    "translation": (
        "sample_translation",
        "plan_translation",
        "join_translation",
        "plan_back_translation",
        "list_back_translations",
        "plan_adequacy",
        "translation_quality",
        "tabulate_translation",
    ),
    "report": (
        "build_report",
        "build_status_page",
        "summarise",
        "tabulate_usage",
        "clean",
    ),
    "planning": (
        "estimate",
        "compare_runs",
    ),
    "figures": ("draw",),
}
"""Stages by the module that holds their functions: a module for each part of the workflow."""


def stage_functions(stages: str) -> list[str]:
    """Return the functions of stages that run in one process, `first+second`, each as `module:function`.

    Raises:
        UserError: there is no stage of one of the names.
    """
    return [stage_function(stage) for stage in stages.split("+")]


def stage_function(stage: str) -> str:
    """Return a stage's function as `module:function`.

    Raises:
        UserError: there is no stage of that name.
    """
    for module, stages in STAGES.items():
        if stage in stages:
            return f"dialeval.stages.{module}:{stage}"
    known = [one for stages in STAGES.values() for one in stages]
    listed = "".join(f"\n  {module}: {', '.join(stages)}" for module, stages in STAGES.items())
    words = nearest(stage, known) if stage.isidentifier() else f"stages:{listed}"
    raise UserError(f"name a stage: python -m dialeval.stages STAGE ..., or STAGE --help; {words}")
