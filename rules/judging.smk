# Plan, answer, parse: every judge gets the same requests, and its responses become judgements. In an adaptive protocol a judge
# gets them in rounds; the second judge of a cascade gets a random share, most where the first is least sure.

JUDGING = Judging(LAYOUT, SOURCES)


use rule stage as plan with:
    """Plans the requests of a protocol."""
    input:
        items_=paths.items,
        perturbed=paths.protocol_perturbed_items,
        pairs=paths.protocol_perturbed_pairs,
    output:
        requests=paths.REQUESTS,
    pathvars:
        part="requests/{protocol}",
    wildcard_constraints:
        protocol=one_of(LAYOUT.protocols),
    group:
        grouped("asking")
    params:
        **job(JUDGING.plan, "stage"),


use rule stage as answer with:
    """Sends the requests of a protocol to a judge, unless their responses are stored."""
    input:
        requests=paths.requests,
        learned=learned("judge"),
    output:
        responses=paths.RESPONSES,
        usage=paths.USAGE,
    pathvars:
        part="responses/{judge}/{protocol}-{shard}-of-{shards}",
    wildcard_constraints:
        judge=one_of(
            {*CONFIG.protocol_judges(), *LAYOUT.translators, *LAYOUT.completers}
            - PUBLISHED
        ),
        protocol=one_of(
            {
                *LAYOUT.protocols,
                *LAYOUT.translating_models,
                *LAYOUT.completing_models,
            }
            - {*LAYOUT.adaptive_protocols}
        ),
    group:
        grouped(GROUPS.answers)
    conda:
        environment(JUDGING.answer)
    resources:
        **resources(JUDGING.answer),
    params:
        **job(JUDGING.answer, "stage", "content", store=True),


use rule stage as plan_retries with:
    """Plans a retry for every unparsable response."""
    input:
        requests=paths.requests,
        responses=paths.responses,
    output:
        again=paths.RETRIES,
    pathvars:
        part="requests/again/{judge}/{protocol}",
    wildcard_constraints:
        protocol=one_of(LAYOUT.retried_protocols),
    group:
        grouped("asking_again")
    params:
        **job(JUDGING.plan_retries),


use rule answer as answer_retries with:
    """Sends the retries to a judge."""
    input:
        requests=paths.RETRIES,
        learned=learned("judge"),
    output:
        responses=paths.RETRIED,
        usage=paths.RETRIED_USAGE,
    pathvars:
        part="responses/again/{judge}/{protocol}",
    wildcard_constraints:
        judge=one_of(CONFIG.protocol_judges()),
        protocol=one_of(LAYOUT.retried_protocols),
    group:
        grouped(GROUPS.retries)
    params:
        **job(JUDGING.answer_retries, "stage", "content", store=True),


use rule stage as answer_adaptively with:
    """Sends a judge requests about pairs in rounds: those that are still open, until all are settled."""
    input:
        requests=paths.REQUESTS,
        learned=learned("judge"),
    output:
        responses=paths.UNSHARDED_RESPONSES,
        usage=paths.UNSHARDED_USAGE,
        rounds=paths.ROUNDS,
    pathvars:
        part="responses/{judge}/{protocol}-in-rounds",
    wildcard_constraints:
        judge=one_of(set(CONFIG.protocol_judges()) - PUBLISHED),
        protocol=one_of(LAYOUT.adaptive_protocols),
    group:
        grouped(GROUPS.answers)
    conda:
        environment(JUDGING.answer_adaptively)
    resources:
        **resources(JUDGING.answer_adaptively),
    params:
        **job(JUDGING.answer_adaptively, "content", store=True),


use rule stage as import_answers with:
    """Imports the published responses of a judge."""
    input:
        requests=paths.REQUESTS,
        published=by(SOURCES.responses),
    output:
        answers=paths.UNSHARDED_RESPONSES,
    pathvars:
        part="responses/{judge}/{protocol}",
    wildcard_constraints:
        judge=one_of(PUBLISHED.intersection(CONFIG.judges)),
    group:
        grouped(GROUPS.parsing)
    params:
        **job(JUDGING.import_answers, "content"),


use rule stage as parse with:
    """Parses the responses of a judge into judgements."""
    input:
        requests=paths.requests,
        responses=paths.responses,
        again=paths.retried,
    output:
        judgements=paths.JUDGEMENTS,
    pathvars:
        part="judgements/{judge}/{protocol}",
    wildcard_constraints:
        judge=one_of(CONFIG.protocol_judges()),
        protocol=one_of(LAYOUT.protocols),
    group:
        grouped(GROUPS.parsing)
    params:
        **job(JUDGING.parse, "stage"),


use rule stage as ensemble_judgements with:
    """Averages the judgements of an ensemble's members."""
    input:
        members=paths.member_judgements,
    output:
        ensemble=paths.ENSEMBLE_JUDGEMENTS,
    pathvars:
        part="judgements/{ensemble}/{method}",
    wildcard_constraints:
        ensemble=one_of(LAYOUT.ensembles),
        method=one_of(
            {method for methods in LAYOUT.ensembles.values() for method in methods}
        ),
    group:
        grouped(GROUPS.ensembles)
    params:
        **job(JUDGING.ensemble_judgements),


use rule stage as tabulate_rounds with:
    """Tabulates the rounds of sequential pairs."""
    input:
        rounds=paths.rounds,
    output:
        table=paths.ADAPTIVE_ROUNDS,
        csv=paths.ADAPTIVE_ROUNDS_CSV,
    pathvars:
        part="tables/{protocol}/adaptive_rounds",
    wildcard_constraints:
        protocol=one_of(LAYOUT.adaptive_protocols),
    group:
        grouped(GROUPS.measures)
    params:
        **job(JUDGING.tabulate_rounds),


use rule stage as sample_cascade with:
    """Draws the requests to a cascade's second judge, half of them from the first judge's least certain judgements."""
    input:
        requests=paths.REQUESTS,
        judgements=paths.first_judgements,
    output:
        chosen=paths.CASCADE_REQUESTS,
    pathvars:
        part="requests/cascades/{protocol}",
    wildcard_constraints:
        protocol=one_of(LAYOUT.cascades),
    group:
        grouped("choosing")
    params:
        **job(JUDGING.sample_cascade),


use rule stage as cascade_judgements with:
    """Joins the judgements of a cascade's two judges."""
    input:
        first=paths.first_judgements,
        then=paths.second_judgements,
    output:
        cascade=paths.CASCADE_JUDGEMENTS,
    pathvars:
        part="judgements/{cascade}/{protocol}",
    wildcard_constraints:
        cascade=one_of({cascade.name for cascade in LAYOUT.cascades.values()}),
        protocol=one_of(LAYOUT.cascades),
    group:
        grouped(GROUPS.measures)
    params:
        **job(JUDGING.cascade_judgements),


use rule stage as find_failures with:
    """Finds failures of chatbots by rule, without a model."""
    input:
        items_=paths.failures_items,
        people=expand(paths.READ_CORPUS, corpus=CONFIG.people_of_failures()),
    output:
        judgements=paths.FOUND_FAILURES,
    pathvars:
        part="judgements/rules/failures",
    group:
        grouped("dialogues")
    params:
        **job(JUDGING.find_failures),
