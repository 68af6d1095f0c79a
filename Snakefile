# DialEval: how well does a chat model hold a conversation, and how far can its judge be trusted?
#
#   snakemake --cores 8                                            everything that the configuration asks for
#   snakemake --cores 8 --configfile configs/mutual.yaml           another configuration
#   snakemake --cores 8 botchat                                    BotChat's tables and figures
#   snakemake --cores 8 report                                     the HTML report: results/report/index.html
#   snakemake --dry-run                                            what would run, and why

from snakemake.utils import min_version

min_version("9.10")

if "models" not in config:  # a configuration given with --configfile stands alone

    configfile: "config.yaml"


include: "rules/common.smk"
include: "rules/paths.smk"
include: "rules/corpora.smk"
include: "rules/selfchat.smk"
include: "rules/judging.smk"
include: "rules/botchat.smk"
include: "rules/figures.smk"
include: "rules/report.smk"


localrules:
    all,
    botchat,
    report,


rule all:
    default_target: True
    input:
        rules.botchat.input,
        rules.report.input,
