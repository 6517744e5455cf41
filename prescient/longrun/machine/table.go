package machine

// Table is what an agent goes by. Each of the 35 cells is there, also where nothing is to be done.
var Table = Cells{
	Loaded: {
		Claimed: {"Another agent takes it; the next read says until when. So it is with one that was never heard of.", []Rule{
			when(runs, Executing, note, atEnd),
			when(stale, Loaded),
			when(announced, Loaded),
			always(Loaded, note)}},
		Done:    {"Nobody needs it any more.", []Rule{when(stale, Loaded), always(Loaded, forget)}},
		ReadNew: {"It is claimed once that may be, by the load of this agent, if there is a place for it.", firstRead},
		Refresh: {"There may be a place by now, or its agent has let it lapse.", firstRead},
		Release: {"It may be claimed at once, if there is a place for it.", []Rule{
			when(stale, Loaded),
			when(noRoom, Loaded, note),
			always(Scheduled, note, byLoad)}},
		Remove: {"It was cancelled while another had it.", []Rule{always(Loaded, forget)}},
		Timer:  {"No timer is set: it comes too late.", []Rule{always(Loaded)}},
	},
	Scheduled: {
		Claimed: {"Another goes first. What it has is looked at again when its lease ends; what it only announces, a little later, and once: it may never claim it.", []Rule{
			when(runs, Executing, note, atEnd),
			when(stale, Scheduled),
			when(twice, Scheduled),
			when(announced, Scheduled, afterOther),
			when(lives, Scheduled, note, byLoad),
			always(Loaded, note, noTimer)}},
		Done:    {"Nobody needs it any more.", []Rule{when(stale, Scheduled), always(Loaded, forget)}},
		ReadNew: {"It was told of before it was read.", readAgain},
		Refresh: {"A timer that is set stays, unless the row has changed: else each read would put the claim off.", readAgain},
		Release: {"It need not wait for the end of the lease.", []Rule{
			when(stale, Scheduled),
			always(Scheduled, note, byLoad)}},
		Remove: {"It was cancelled before it was claimed.", []Rule{always(Loaded, forget)}},
		Timer: {"It may be claimed: without asking by one that gave way.", []Rule{
			when(early, Scheduled),
			when(noRoom, Loaded, noTimer),
			when(knownLives, Scheduled, byLoad),
			when(gaveWay, Elected, noTimer, claim),
			when(wakeUp, Electing, announce, window),
			always(Elected, noTimer, claim)}},
	},
	Electing: {
		Claimed: {"The higher priority goes on, and of two that are equal the lower id. Who goes second looks again later, since the first may die.", []Rule{
			when(runs, Executing, note, atEnd),
			when(stale, Electing),
			when(weaker, Electing),
			when(announced, Scheduled, afterOther),
			when(lives, Scheduled, note, byLoad),
			always(Loaded, note, noTimer)}},
		Done:    {"It ended meanwhile.", []Rule{when(stale, Electing), always(Loaded, forget)}},
		ReadNew: {"It was announced before it was read.", electingRead},
		Refresh: {"Somebody may have it by now who announces nothing.", electingRead},
		Release: {"It is free, as it was taken to be.", []Rule{when(stale, Electing), always(Electing, note)}},
		Remove:  {"It was cancelled meanwhile.", []Rule{always(Loaded, forget)}},
		Timer: {"Nobody goes first: this agent goes on without asking.", []Rule{
			when(early, Electing),
			when(noRoom, Loaded, noTimer),
			always(Elected, noTimer, claim)}},
	},
	Elected: {
		Claimed: {"The row decides. What others say meanwhile changes nothing.", []Rule{
			when(runs, Executing, note, atEnd),
			when(mine, Executing, note, atEnd, start),
			when(others, Elected),
			always(Loaded, look)}},
		Done:    {"The UPDATE will hit nothing.", []Rule{always(Elected)}},
		ReadNew: {"What was read may be older than the UPDATE.", []Rule{always(Elected)}},
		Refresh: {"What was read may be older than the UPDATE.", []Rule{always(Elected)}},
		Release: {"The UPDATE compares the token.", []Rule{always(Elected)}},
		Remove:  {"Where it was cancelled, its start will see that.", []Rule{always(Elected)}},
		Timer:   {"The UPDATE has a deadline of its own.", []Rule{always(Elected, noTimer)}},
	},
	Executing: {
		Claimed: {"A claim of what runs here hits nothing while our lease lives. A higher token says that it is over.", []Rule{
			when(runs, Executing, note, atEnd),
			when(announced, Executing, look),
			when(newer, Loaded, stop, note, noTimer, look),
			always(Executing)}},
		Done: {"Our own end is committed; or somebody else has ended it, after our lease.", []Rule{
			when(own, Loaded, forget),
			when(newer, Loaded, stop, forget),
			always(Executing)}},
		ReadNew: {"It runs here; a higher token says that it is another's.", executingRead},
		Refresh: {"We have renewed it, or another has it.", executingRead},
		Release: {"Only a release under a higher token counts, and our own: another that releases what runs here is late, or wrong.", []Rule{
			when(own, Loaded, forget),
			when(newer, Loaded, stop, note, noTimer, look),
			always(Executing, look)}},
		Remove: {"Its check was cancelled or changed: the call ends, and its answer is dropped.", []Rule{always(Loaded, drop, noTimer)}},
		Timer: {"Our lease is over, and it is still called: it ends at once, since another may have it from now on.", []Rule{
			when(early, Executing),
			always(Loaded, stop, noTimer, look)}},
	},
}

// What a read comes to, in states that it finds a machine in.
var (
	firstRead = []Rule{
		when(stale, Loaded),
		when(noRoom, Loaded, note),
		always(Scheduled, note, byLoad)}
	readAgain = []Rule{
		when(stale, Scheduled),
		when(noRoom, Loaded, note, noTimer),
		when(changed, Scheduled, note, byLoad),
		always(Scheduled)}
	electingRead = []Rule{
		when(stale, Electing),
		when(taken, Scheduled, note, byLoad),
		always(Electing, note)}
	executingRead = []Rule{
		when(own, Executing, note, atEnd),
		when(newer, Loaded, stop, note, noTimer, look),
		always(Executing)}
)
