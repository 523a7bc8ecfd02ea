import { join } from 'node:path'
import express, { Router, type Request } from 'express'
import type { ResourceOwner } from '../lib/index'
import { findResourceOwner } from './accounts'
import { homePage, type AppOfDemo } from './home-page'
import { signInLimits, type LimitStores } from './limits'
import { sameOrigin } from './same-origin'
import { renewSession } from './session-cookie'
import { awayPage, icon, signInPage } from './sign-in-pages'
import { needsSession } from './storage-away'

declare module 'express-session' {
  interface SessionData {
    resourceOwner: ResourceOwner
  }
}

/** Where people see which applications they have connected. */
export const connectedApplications = '/authorizations'

/** Where the mark of the pages is. */
export const logo = '/logo.svg'

/** The login that the app had before it became an authorization server. */
export function signIn(origin: string, limits: LimitStores, apps: readonly AppOfDemo[]): Router {
  const router = Router()
  router.use('/assets', express.static(join(__dirname, 'client-assets')))
  const form = express.urlencoded({ extended: false })
  const attempts = signInLimits(limits, (request, response) => {
    const message = 'Too many attempts. Wait a minute, then try again.'
    response.status(429).send(signInPage({ ...fieldsOf(request.body), message }))
  })

  // The consent page is for whoever is signed in; clients at the other endpoints have no session.
  const forPeople = ['/login', '/logout', '/sign-out', '/authorize', connectedApplications]
  router.use(forPeople, needsSession(awayPage()))

  router.get('/', needsSession(awayPage()), (request, response) => {
    response.send(homePage(request.session.resourceOwner, apps))
  })

  router.get(['/favicon.ico', logo], (_request, response) => {
    response.type('image/svg+xml').send(icon)
  })

  router.get('/login', (request, response) => {
    const { returnTo, prompt } = fieldsOf(request.query)
    // A client may demand that the person proves again who they are.
    if (request.session.resourceOwner !== undefined && prompt === '')
      return response.redirect(303, wayBack(returnTo, origin))
    return response.send(signInPage({ username: '', returnTo }))
  })

  router.post('/login', sameOrigin, form, attempts)
  router.post('/login', async (request, response) => {
    const { username, password, returnTo } = fieldsOf(request.body)
    const owner = await findResourceOwner(username, password)
    if (owner === undefined) {
      const message = 'The name or the password is wrong.'
      response.send(signInPage({ username, returnTo, message }))
      return
    }
    // A new id: an attacker who planted or saw the old one does not get the login.
    await renewSession(request)
    request.session.resourceOwner = owner
    response.redirect(303, wayBack(returnTo, origin))
  })

  // Not /logout: there, the authorization server asks a person who comes from a client.
  router.post('/sign-out', sameOrigin, async (request, response) => {
    await signOut(request)
    response.redirect(303, '/')
  })
  return router
}

/** Ends the session. Rejects if it may live on. */
export function signOut({ session }: Request): Promise<void> {
  return new Promise((resolve, reject) => session.destroy((error) => (error ? reject(error) : resolve())))
}

function fieldsOf(form: unknown): { username: string; password: string; returnTo: string; prompt: string } {
  const fields = new Map<string, unknown>(Object.entries(form ?? {}))
  const text = (name: string) => {
    const value = fields.get(name)
    return typeof value === 'string' ? value : ''
  }
  return {
    username: text('username'),
    password: text('password'),
    returnTo: text('return_to'),
    prompt: text('prompt'),
  }
}

// Resolved as the browser will resolve it: "//evil.example" and "/\evil.example" are other sites.
function wayBack(returnTo: string, origin: string): string {
  if (!URL.canParse(returnTo, origin)) return origin
  const url = new URL(returnTo, origin)
  return url.origin === origin ? url.href : origin
}
