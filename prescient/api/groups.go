package api

import "prescient/prescient/ops"

func (a *server) checks() {
	query(a, ops.GetCheck)
	query(a, ops.ListPending)
	query(a, ops.ListEnded)
	deed(a, ops.InsertChecks)
	deed(a, ops.CancelChecks)
	deed(a, ops.RescheduleCheck)
}

func (a *server) bulk() {
	deed(a, ops.PreviewBulk)
	deed(a, ops.StartBulk)
	deed(a, ops.StopBulk)
	query(a, ops.GetBulk)
	query(a, ops.ListBulk)
}

func (a *server) tokens() {
	query(a, ops.ListTokens)
	deed(a, ops.CreateToken)
	deed(a, ops.RotateToken)
	deed(a, ops.RevokeToken)
}

func (a *server) users() {
	query(a, ops.ListUsers)
	query(a, ops.GetUser)
	query(a, ops.ListSessions)
	deed(a, ops.AddUser)
	deed(a, ops.DisableUser)
	deed(a, ops.EnableUser)
	deed(a, ops.SetUserRole)
	deed(a, ops.SetUserPassword)
	deed(a, ops.EndSessions)
}

func (a *server) definitions() {
	query(a, ops.ListSchedules)
	query(a, ops.GetSchedule)
	query(a, ops.ListScheduleRuns)
	query(a, ops.ListScheduleVersions)
	query(a, ops.GetScheduleVersion)
	query(a, ops.PreviewSchedule)
	deed(a, ops.CreateSchedule)
	deed(a, ops.UpdateSchedule)
	deed(a, ops.GoBackSchedule)
	deed(a, ops.DeleteSchedules)
	deed(a, ops.PauseSchedule)
	deed(a, ops.ResumeSchedule)
	deed(a, ops.PauseSchedules)
	deed(a, ops.ResumeSchedules)
	deed(a, ops.RunSchedule)
	deed(a, ops.PlanSchedule)
	query(a, ops.ListJobs)
	query(a, ops.GetJob)
	query(a, ops.ListJobVersions)
	query(a, ops.ListJobRuns)
	deed(a, ops.CreateJob)
	deed(a, ops.UpdateJob)
	deed(a, ops.GoBackJob)
	deed(a, ops.DeleteJobs)
	deed(a, ops.PauseJob)
	deed(a, ops.ResumeJob)
	deed(a, ops.PauseJobs)
	deed(a, ops.ResumeJobs)
	deed(a, ops.RunJob)
	query(a, ops.ListSteps)
	query(a, ops.GetStep)
	deed(a, ops.PutStep)
	deed(a, ops.DeleteStep)
}

func (a *server) rules() {
	query(a, ops.ListRules)
	query(a, ops.GetRule)
	query(a, ops.ListRuleVersions)
	query(a, ops.PreviewRule)
	query(a, ops.TryRule)
	deed(a, ops.SetRule)
	deed(a, ops.PauseRule)
	deed(a, ops.ResumeRule)
	deed(a, ops.DeleteRule)
	deed(a, ops.ReportOccasion)
}

func (a *server) switches() {
	query(a, ops.ListPauses)
	deed(a, ops.SetPauses)
	deed(a, ops.LiftPauses)
	query(a, ops.GetBacklog)
	query(a, ops.ListSetAside)
	deed(a, ops.ResendEvents)
	deed(a, ops.DropEvents)
	query(a, ops.CountEvents)
	deed(a, ops.ResendMatching)
	deed(a, ops.DropMatching)
	query(a, ops.ListTold)
	deed(a, ops.TellAgain)
	query(a, ops.ListAudit)
	query(a, ops.ListAgents)
	query(a, ops.ListPools)
	deed(a, ops.DrainAgents)
	deed(a, ops.UndrainAgents)
	query(a, ops.ListLongRuns)
}
