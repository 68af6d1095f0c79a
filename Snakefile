# DialEval: evaluate dialogue systems, and the LLM judges that score them.
#
#   snakemake --cores 8                                       make everything in the configuration
#   snakemake --cores 8 --configfile configs/mutual.yaml      use another configuration
#   snakemake --dry-run                                       list the jobs that would run, with reasons
#   snakemake --cores 8 estimate                              estimate requests, tokens, cost and precision of a run
#   snakemake --cores 1 status                                write the progress of a run to a page
#   snakemake --cores 1 compare --config run_a=results run_b=other   compare two runs
#
# Targets make a part of the results: report, botchat, metaeval, robustness, dialogbench, training, battles,
# annotation_pages, download, clean, versions and others (docs/command.md).
# On a Slurm cluster: snakemake --profile profiles/slurm check, then without `check` (docs/cluster.md).

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
