package machine

// Table is what an agent goes by. Each of the 35 cells is there, also where nothing is to be done.
var Table = Cells{
	Loaded: {
		Claimed: {"Another agent takes it. The next read says until when.", []Rule{
			when(runs, Executing, note, atEnd),
			when(stale, Loaded),
			when(announced, Loaded),
			always(Loaded, note)}},
		Done:    {"It ended.", []Rule{when(stale, Loaded), always(Loaded, forget)}},
		ReadNew: {"It is claimed once it may be, if there is a place.", firstRead},
		Refresh: {"It is claimed once it may be, if there is a place.", firstRead},
		Release: {"It is claimed once it may be, if there is a place.", []Rule{
			when(stale, Loaded),
			when(noRoom, Loaded, note),
			always(Scheduled, note, byLoad)}},
		Remove: {"It was cancelled.", []Rule{always(Loaded, forget)}},
		Timer:  {"It comes too late.", []Rule{always(Loaded)}},
	},
	Scheduled: {
		Claimed: {"Another goes first. What it only announces it may never claim.", []Rule{
			when(runs, Executing, note, atEnd),
			when(stale, Scheduled),
			when(twice, Scheduled),
			when(announced, Scheduled, afterOther),
			when(lives, Scheduled, note, byLoad),
			always(Loaded, note, noTimer)}},
		Done:    {"It ended.", []Rule{when(stale, Scheduled), always(Loaded, forget)}},
		ReadNew: {"Its timer stays unless the row has changed.", readAgain},
		Refresh: {"Else each read would put the claim off.", readAgain},
		Release: {"It need not wait for the end of the lease.", []Rule{
			when(stale, Scheduled),
			always(Scheduled, note, byLoad)}},
		Remove: {"It was cancelled.", []Rule{always(Loaded, forget)}},
		Timer: {"Who gave way claims without asking.", []Rule{
			when(early, Scheduled),
			when(noRoom, Loaded, noTimer),
			when(knownLives, Scheduled, byLoad),
			when(gaveWay, Elected, noTimer, claim),
			when(wakeUp, Electing, announce, window),
			always(Elected, noTimer, claim)}},
	},
	Electing: {
		Claimed: {"Who gives way tries again later, since the first may die.", []Rule{
			when(runs, Executing, note, atEnd),
			when(stale, Electing),
			when(weaker, Electing),
			when(announced, Scheduled, afterOther),
			when(lives, Scheduled, note, byLoad),
			always(Loaded, note, noTimer)}},
		Done:    {"It ended.", []Rule{when(stale, Electing), always(Loaded, forget)}},
		ReadNew: {"Another may have it that announces nothing.", electingRead},
		Refresh: {"Another may have it that announces nothing.", electingRead},
		Release: {"It is free.", []Rule{when(stale, Electing), always(Electing, note)}},
		Remove:  {"It was cancelled.", []Rule{always(Loaded, forget)}},
		Timer: {"Nobody goes first.", []Rule{
			when(early, Electing),
			when(noRoom, Loaded, noTimer),
			always(Elected, noTimer, claim)}},
	},
	Elected: {
		Claimed: {"The row decides. What others say meanwhile changes nothing.", []Rule{
			when(runs, Executing, note, atEnd),
			when(others, Elected),
			always(Loaded, look)}},
		Done:    {"The claim will come to nothing.", []Rule{always(Elected)}},
		ReadNew: {"What was read may be older than the claim.", []Rule{always(Elected)}},
		Refresh: {"What was read may be older than the claim.", []Rule{always(Elected)}},
		Release: {"The claim compares the token.", []Rule{always(Elected)}},
		Remove:  {"Where it was cancelled, the claim will see that.", []Rule{always(Elected)}},
		Timer:   {"The claim has a deadline of its own.", []Rule{always(Elected, noTimer)}},
	},
	Executing: {
		Claimed: {"While our lease lives nobody can claim it. A higher token says that the lease is over.", []Rule{
			when(runs, Executing, note, atEnd),
			when(announced, Executing, look),
			when(newer, Loaded, stop, note, noTimer, look),
			always(Executing)}},
		Done: {"Our own end is committed, or another has ended it after our lease.", []Rule{
			when(own, Loaded, forget),
			when(newer, Loaded, stop, forget),
			always(Executing)}},
		ReadNew: {"We have renewed it, or another has it.", executingRead},
		Refresh: {"We have renewed it, or another has it.", executingRead},
		Release: {"Any other release of what runs here is late, or wrong.", []Rule{
			when(own, Loaded, forget),
			when(newer, Loaded, stop, note, noTimer, look),
			always(Executing, look)}},
		Remove: {"Its check was cancelled or changed; its answer is dropped.", []Rule{always(Loaded, drop, noTimer)}},
		Timer: {"Our lease is over: another may have it from now on.", []Rule{
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
