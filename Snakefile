# DialEval: how well does a chat model hold a conversation, and how far can its judge be trusted?
#
#   snakemake --cores 8                                            everything that the configuration asks for
#   snakemake --cores 8 --configfile configs/mutual.yaml           another configuration
#   snakemake --cores 8 botchat                                    BotChat's tables and figures
#   snakemake --cores 8 metaeval                                   how far judges agree with people
#   snakemake --cores 8 robustness                                 whether judges notice damage
#   snakemake --cores 8 dialogbench                                multiple-choice questions on dialogues
#   snakemake --cores 8 training                                   what judges learn from, and how well they learned
#   snakemake --cores 8 annotation_pages --configfile configs/labels.yaml  pages on which people label a part of the dialogues
#   snakemake --cores 8 report                                     the HTML report: results/report/index.html
#   snakemake --cores 1 status                                     what is there of it now, beside a run or after one that failed
#   snakemake --cores 8 battles --configfile configs/battles.yaml  ratings of plain tables of battles
#   snakemake --cores 8 estimate                                   what a run would ask of each model, and the cost
#   snakemake --profile profiles/slurm check                       whether the cluster can run the jobs
#   snakemake --cores 1 versions                                   what was made with other versions of libraries
#   snakemake --cores 1 clean                                      what lies in the results and is no longer made
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


include: "rules/run.smk"
include: "rules/corpora.smk"
include: "rules/selfchat.smk"
include: "rules/judging.smk"
include: "rules/measures.smk"
include: "rules/translation.smk"
include: "rules/metaeval.smk"
include: "rules/dialogbench.smk"
include: "rules/training.smk"
include: "rules/labels.smk"
include: "rules/figures.smk"
include: "rules/report.smk"
include: "rules/upkeep.smk"


rule all:
    """Makes everything that the configuration asks for."""
    default_target: True
    input:
        paths.all_files,
