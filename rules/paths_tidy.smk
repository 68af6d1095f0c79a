# What the configuration makes, written down by rule, for jobs that compare it with what lies in the results.

from snakemake.dag import DAG

GRAPHS = {  # rules that compare -> the file that each is told of, and takes away
    name: f"{RESULTS}/.graph-{name}.json"
    for name in ("tidy", "tidy_remove", "versions")
}
rule_name = (
    workflow.modifier.modify_rulename
)  # as a module's rules are called, also when the run begins


def whole_graph():
    """Returns the jobs of everything that the configuration asks for, and of what it may be asked for besides."""
    names = ["all", "estimate", "download", "live", *(["label"] if LABELLED else [])]
    targets = {workflow.get_rule(rule_name(name)) for name in names}
    graph = DAG(
        workflow,
        workflow.rules,
        targetfiles=set(),
        targetrules=targets,
        ignore_incomplete=True,
    )
    workflow.async_run(graph.init())
    return [*graph.jobs, *workflow.dag.jobs]


def written_by(job):
    """Returns what a job writes below the results; some is told it by parameters, as checkpoints are."""
    texts = [
        text
        for value in job.params
        for text in (value if isinstance(value, list) else [value])
    ]
    paths = [*job.output, *job.log, *filter(lambda text: isinstance(text, str), texts)]
    return [
        os.path.relpath(path, RESULTS)
        for path in map(str, paths)
        if path.startswith(f"{RESULTS}/")
    ]


def write_graph():
    """Writes down what the configuration makes, by rule, for jobs that compare it with what lies in the results."""
    asked = {job.rule.name for job in workflow.dag.needrun_jobs()}
    told = [path for name, path in GRAPHS.items() if rule_name(name) in asked]
    if not told:
        return
    made = {name: job.rule.name for job in whole_graph() for name in written_by(job)}
    about = {
        "made": made,
        "configuration": CONFIGURED_BY,
        "left_out": LEFT_OUT,
    }
    for path in told:
        write_new(Path(path), json.dumps(about))
