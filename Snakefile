# DialEval: how well does a chat model hold a conversation, and how far can its judge be trusted?
#
#   snakemake --cores 8                                            everything that the configuration asks for
#   snakemake --cores 8 --configfile configs/mutual.yaml           another configuration
#   snakemake --cores 8 botchat                                    BotChat's tables and figures
#   snakemake --cores 8 metaeval                                   how far judges agree with people
#   snakemake --cores 8 robustness                                 whether judges notice damage
#   snakemake --cores 8 dialogbench                                multiple-choice questions on dialogues
#   snakemake --cores 8 training                                   what judges learn from, and how well they learned
#   snakemake --cores 8 label --configfile configs/labels.yaml     pages on which people label a part of the dialogues
#   snakemake --cores 8 report                                     the HTML report: results/report/index.html
#   snakemake --cores 1 live                                       what is there of it now, beside a run or after one that failed
#   snakemake --cores 8 battles --configfile configs/battles.yaml  ratings of plain tables of battles
#   snakemake --cores 8 estimate                                   what a run would ask of each model, and the cost
#   snakemake --profile profiles/slurm check                       whether the cluster can run the jobs
#   snakemake --cores 1 versions                                   what was made with other versions of libraries
#   snakemake --cores 1 tidy                                       what lies in the results and is no longer made
#   snakemake --cores 1 compare --config run_a=results run_b=other   which numbers moved between two runs
#   snakemake --dry-run                                            what would run, and why

import sys

if sys.version_info < (3, 11):
    sys.exit(
        "this is Python %d.%d, and DialEval needs 3.11 or newer: make an environment with a newer one, and in it: "
        "pip install -e ." % sys.version_info[:2]
    )

from snakemake.utils import min_version

min_version("9.17")


include: "rules/configuration.smk"
include: "rules/common.smk"
include: "rules/hooks.smk"
include: "rules/settings.smk"
include: "rules/resources.smk"
include: "rules/paths.smk"
include: "rules/paths_protocols.smk"
include: "rules/paths_failures.smk"
include: "rules/paths_adaptive.smk"
include: "rules/paths_cascades.smk"
include: "rules/paths_answers.smk"
include: "rules/paths_translation.smk"
include: "rules/paths_metaeval.smk"
include: "rules/paths_dialogbench.smk"
include: "rules/paths_figures.smk"
include: "rules/paths_estimate.smk"
include: "rules/paths_trust.smk"
include: "rules/paths_training.smk"
include: "rules/paths_labels.smk"
include: "rules/paths_tidy.smk"
include: "rules/paths_check.smk"
include: "rules/paths_labelled.smk"
include: "rules/paths_report.smk"
include: "rules/groups.smk"
include: "rules/corpora.smk"
include: "rules/transcripts.smk"
include: "rules/selfchat.smk"
include: "rules/judging.smk"
include: "rules/adaptive.smk"
include: "rules/cascades.smk"
include: "rules/failures.smk"
include: "rules/measures.smk"
include: "rules/botchat.smk"
include: "rules/translation.smk"
include: "rules/metaeval.smk"
include: "rules/trust.smk"
include: "rules/robustness.smk"
include: "rules/dialogbench.smk"
include: "rules/figures.smk"
include: "rules/report.smk"
include: "rules/usage.smk"
include: "rules/summary.smk"
include: "rules/telling.smk"
include: "rules/tidy.smk"
include: "rules/battles.smk"
include: "rules/training.smk"
include: "rules/labels.smk"
include: "rules/labelled.smk"
include: "rules/versions.smk"
include: "rules/check.smk"
include: "rules/compare.smk"


rule all:
    """Makes everything that the configuration asks for."""
    default_target: True
    input:
        branch(CONFIG.talks(), then=rules.botchat.input),
        branch(CONFIG.models or shown_protocols(), then=rules.report.input),
        branch(CONFIG.models, then=rules.tabulate_usage.output),
        rules.summarise.output,
        battle_files(),
        metaeval_files(),
        translation_files(),
        robustness_files(),
        dialogbench_files(),
        trust_tables(),
        label_tables(),
        own_results(),
        training_files(),
