package shards

// An own table is one that each shard has for itself: a reshard makes it on the new shards, and copies no row of it.
type own struct {
	name string
	same bool // its rows are copied to a new shard before that is served
	why  string
}

// owns are all of them. slot_config is the last to be copied: a worker that sees it sees all.
var owns = []own{
	{"schema_version", true, "the reshard made the tables as these migrations left them"},
	{"job_pause", true, "what is paused stays so"},
	{"step_definition", true, "jobs of any shard call shared steps"},
	{"rule", true, "what happens to any entity makes checks by it"},
	{"rule_version", true, "checks that moved name the version that they were made by"},
	{"agent", true, "an agent that is to be drained stays so; those that are gone are forgotten"},
	{"event_shard", true, "forwarders lease its rows and make none; a lease that is copied lapses"},
	{"queue_position", true, "a change queue goes on where it was, on whichever shard its check comes to"},
	{"bulk_run", true, "bulk_check names it, and moves with its checks"},
	{"api_token", true, "whoever may call the API may go on"},
	{"api_key", true, "a request that comes again gets the answer that it got"},
	{"web_user", true, "whoever may sign in may go on"},
	{"web_session", true, "whoever is signed in stays so"},
	{"slot_config", true, "the slots are the same everywhere, and all of it is of one version"},

	{"slot_run", false, "books of what the old shard ran; checks that it left are swept up, which needs none, and a long run of it that ends later is in none"},
	{"exec_run", false, "as slot_run"},
	{"exec_known", false, "a worker writes it as it starts"},
	{"duty", false, "the first to take a duty writes it"},
	{"stats_hour", false, "sums of history, which has moved: they are made again from it"},
	{"stats", false, "as stats_hour"},
	{"stats_bucket", false, "as stats_hour"},
	{"stats_reason", false, "as stats_hour"},
	{"forecast_made", false, "the forecast is made again"},
	{"forecast", false, "as forecast_made"},
	{"forecast_fit", false, "as forecast_made"},
	{"event_forwarder", false, "a forwarder writes it as it starts"},
	{"event_topic", false, "a forwarder writes it where it fails"},
	{"event_count", false, "what the old shard published"},
	{"finding", false, "what is wrong with the old shard, and who was told"},
	{"schema_lock", false, "whoever migrates writes it"},
}
