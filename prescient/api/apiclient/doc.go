// Package apiclient asks the API for programs in Go, and needs nothing beside the standard library.
//
//	c, err := apiclient.New("https://prescient.internal:8484", apiclient.Options{Token: token})
//	did, err := c.ChecksInsert(ctx, apiclient.Inserting{Checks: []apiclient.NewCheck{
//		{Entity: "order/42", JobExec: "order-unshipped", DueAt: time.Now().Add(3 * time.Hour)},
//	}}, apiclient.Key("order-42-placed"))
//	if errors.Is(err, apiclient.ProblemTypeErrBeyondHorizon) { … }
//
// [Client]'s methods are made from the API's description, openapi.json. What is optional is not sent where it is zero.
package apiclient
