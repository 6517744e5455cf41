// Package login has people sign in to the page of serve: users by their passwords, others by a provider of OpenID Connect. It works on the account serve-door.
//
// A session is a row of web_session, found by the hash of what the browser sends; it ends where nobody uses it. What is known of it is remembered for
// [Remembered]: so long after a user is disabled, or sessions are ended, requests may still come through. A changed password, a user who is disabled and a
// user of a name that a provider gave end sessions by themselves.
//
// Somebody who tries passwords is slowed down by address and by account. Browsers by which somebody has signed in to an account are counted apart, so that
// strangers who try it lock nobody out there. An unknown name, a wrong password and a user who is disabled get the same answer after the same time.
package login
