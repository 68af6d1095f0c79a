# Failures that rules find in dialogues, without a model; what judges say of them goes the way of every protocol.


rule find_failures:
    """Finds failures of chatbots by rule."""
    input:
        item_tables=lambda wildcards: items_about(OF_FAILURES),
        people=people_of_failures(),
    output:
        f"{RESULTS}/judgements/{BY_RULE}/{OF_FAILURES}.parquet",
    log:
        f"{RESULTS}/logs/judgements/{BY_RULE}/{OF_FAILURES}.log",
    group:
        grouped("dialogues")
    conda:
        "../envs/core.yaml"
    params:
        settings=failure_settings(),
        code=code("find_failures"),
    shell:
        command(
            "find_failures",
            "--items {input.item_tables:q} --people {input.people:q} --judgements {output:q}",
        )
