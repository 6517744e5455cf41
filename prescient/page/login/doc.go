// Package login has people sign in to the page of serve: users by their passwords, others by a provider of OpenID Connect. It works on the account serve-door.
//
// A session is a row of web_session, found by the hash of what the browser sends. It ends where nobody uses it, and by a changed password, a disabled user,
// or a user of a name that a provider gave. For [Remembered] after that, requests may still come through.
//
// Somebody who tries passwords is slowed down by address and by account. Browsers by which somebody has signed in to an account are counted apart, so that
// strangers who try it lock nobody out there. An unknown name, a wrong password and a user who is disabled get the same answer after the same time.
package login
