import { randomBytes } from 'node:crypto'
import type { Express, Request } from 'express'
import {
  LogInWithLumen,
  NotLoggedIn,
  type LoggedIn,
  type LoginUnderWay,
  type RelyingPartyRegistration,
} from './relying-party-login'
import { homePage, supperClub } from './relying-party-pages'
import { sameOrigin } from './same-origin'
import { renewSession } from './session-cookie'
import { webApp, type WebAppSettings } from './web-app'

declare module 'express-session' {
  interface SessionData {
    loginUnderWay: LoginUnderWay
    person: LoggedIn
    /** The state of a logout that Lumen answers. */
    logoutState: string
  }
}

/** Supper Club: a site of somebody else, whose members sign in with Lumen. */
export function relyingParty(settings: WebAppSettings, registration: RelyingPartyRegistration): void {
  const lumen = new LogInWithLumen(registration)
  webApp(settings, supperClub, (app) => addRoutes(app, lumen, registration))
}

function addRoutes(app: Express, lumen: LogInWithLumen, registration: RelyingPartyRegistration): void {
  app.get('/', (request, response) => {
    const { person, notice } = request.session
    delete request.session.notice
    response.set('Cache-Control', 'no-store').send(homePage(person, notice))
  })

  app.post('/login', sameOrigin, async (request, response) => {
    const { location, underWay } = await lumen.depart()
    request.session.loginUnderWay = underWay
    response.redirect(303, location.href)
  })

  app.get('/callback', async (request, response) => {
    const { loginUnderWay, person } = request.session
    delete request.session.loginUnderWay
    // Somebody who went back and pressed Allow again is logged in: the answer is ignored.
    if (loginUnderWay === undefined && person !== undefined) request.session.notice = 'signed_in_already'
    else
      await attempt(request, async () => {
        const arrived = await lumen.arrive(new URL(request.url, registration.redirect_uri), loginUnderWay)
        // A new id: an attacker who planted or saw the old one does not get the login.
        await renewSession(request)
        request.session.person = arrived
      })
    response.redirect(303, '/')
  })

  app.post('/refresh', sameOrigin, async (request, response) => {
    await update(request, 'refreshed', (person) => lumen.refresh(person))
    response.redirect(303, '/')
  })

  app.post('/userinfo', sameOrigin, async (request, response) => {
    await update(request, 'asked', (person) => lumen.ask(person))
    response.redirect(303, '/')
  })

  app.post('/logout', sameOrigin, async (request, response) => {
    const { person } = request.session
    // This site forgets the person first: whatever Lumen and the person decide then, they are logged out here.
    await renewSession(request)
    if (person === undefined) return response.redirect(303, '/')
    const state = randomBytes(16).toString('base64url')
    request.session.logoutState = state
    return response.redirect(303, (await lumen.leave(person, state)).href)
  })

  app.get('/logged-out', (request, response) => {
    const { logoutState } = request.session
    delete request.session.logoutState
    if (logoutState !== undefined && request.query['state'] === logoutState)
      request.session.notice = 'signed_out'
    response.redirect(303, '/')
  })
}

/** Learns something new about the person who is logged in, if there is one. */
async function update(
  request: Request,
  notice: string,
  learn: (person: LoggedIn) => Promise<LoggedIn>,
): Promise<void> {
  const { person } = request.session
  if (person === undefined) return
  await attempt(request, async () => {
    request.session.person = await learn(person)
    request.session.notice = notice
  })
}

/** Does something with Lumen, and keeps for the next page why it failed. */
async function attempt(request: Request, act: () => Promise<void>): Promise<void> {
  try {
    await act()
  } catch (error) {
    if (!(error instanceof NotLoggedIn)) throw error
    // Other trouble may be over soon.
    if (error.code === 'invalid_grant') delete request.session.person
    request.session.notice = error.code
  }
}
