import type { Express, Request } from 'express'
import { html, type Html } from '../lib/pages/html'
import { appPage, noticeOf } from './app-page'
import { gallery, type PhotoEntry } from './client-pages'
import { NotConnected } from './connection'
import { beginDeviceLogin, type DeviceLogin, hasTokens, pollDeviceLogin } from './device-login'
import { sameOrigin } from './same-origin'
import { webApp, type WebAppSettings } from './web-app'

declare module 'express-session' {
  interface SessionData {
    deviceLogin: DeviceLogin
    /** Milliseconds since the epoch. */
    polledAt: number
  }
}

export interface TelevisionSettings extends WebAppSettings {
  readonly resourceServer: string
  readonly client_id: string
}

const look = { name: 'Television', key: 'television' }

/** Television: a device without a keyboard. It shows a code, and gets the photos once its owner has allowed it. */
export function television(settings: TelevisionSettings): void {
  webApp(settings, look, (app) => addRoutes(app, settings))
}

function addRoutes(
  app: Express,
  { authorizationServer, resourceServer, client_id }: TelevisionSettings,
): void {
  const photosOf = ({ session }: Request, path: string) =>
    fetch(`${resourceServer}${path}`, { headers: { Authorization: `Bearer ${session.tokens?.accessToken}` } })

  app.get('/', async (request, response) => {
    await poll(request, authorizationServer, client_id)
    const { tokens, deviceLogin, notice } = request.session
    delete request.session.notice
    if (tokens === undefined) return response.send(screen(deviceLogin, notice))
    const answer = await photosOf(request, '/photos')
    if (answer.ok) {
      const photos: PhotoEntry[] = JSON.parse(await answer.text())
      return response.send(appPage(look, html`${gallery(photos)}${switchOff}`))
    }
    delete request.session.tokens
    return response.send(screen(undefined, 'invalid_grant'))
  })

  app.post('/connect', sameOrigin, async (request, response) => {
    try {
      request.session.deviceLogin = await beginDeviceLogin(authorizationServer, client_id)
    } catch (error) {
      if (!(error instanceof NotConnected)) throw error
      request.session.notice = error.code
    }
    response.redirect(303, '/')
  })

  app.post('/disconnect', sameOrigin, (request, response) => {
    delete request.session.tokens
    response.redirect(303, '/')
  })

  app.get('/photos/:id', async (request, response) => {
    const answer = await photosOf(request, `/photos/${encodeURIComponent(request.params.id)}`)
    if (!answer.ok) return response.sendStatus(404)
    const picture = Buffer.from(await answer.arrayBuffer())
    return response.set('Cache-Control', 'no-store').type('image/svg+xml').send(picture)
  })
}

/** Polls, unless the interval has not passed: the page is loaded whenever its visitor likes. */
async function poll({ session }: Request, issuer: string, clientId: string): Promise<void> {
  const { deviceLogin, polledAt = 0 } = session
  if (deviceLogin === undefined || Date.now() - polledAt < deviceLogin.interval * 1000) return
  session.polledAt = Date.now()
  try {
    const polled = await pollDeviceLogin(issuer, clientId, deviceLogin)
    if (!hasTokens(polled)) return void (session.deviceLogin = polled)
    session.tokens = polled
  } catch (error) {
    if (!(error instanceof NotConnected)) throw error
    session.notice = error.code
  }
  delete session.deviceLogin
}

const notices = {
  news: { access_denied: 'You did not let the television in. Nothing was shared.' },
  problems: {
    expired_token: 'The code has ended. Ask for a new one.',
    invalid_grant: 'Lumen has ended this connection. Ask for a new code.',
  },
}

function screen(login: DeviceLogin | undefined, notice: string | undefined): string {
  const told = notice !== undefined && noticeOf(notices, notice)
  return appPage(look, html`${told}${login === undefined ? invitation : codeOf(login)}`)
}

const invitation = html`<section class="invitation">
  <div class="screen" aria-hidden="true"></div>
  <h1>Your photos, <br />larger than life.</h1>
  <p>A television has no keyboard. It shows a code, and you enter the code where you are signed in.</p>
  <form method="post" action="/connect"><button class="primary">Connect Lumen</button></form>
</section>`

/** A web address as people read it, and type it. */
const withoutScheme = (uri: string) => uri.replace(/^https?:\/\//, '')

// A television has no script here either: the page loads itself again.
const codeOf = ({ userCode, verificationUri, completeUri, interval }: DeviceLogin): Html =>
  html`<meta http-equiv="refresh" content="${String(interval)}" />
    <section class="invitation">
      <h1>
        Open <a href="${completeUri}" target="_blank" rel="noopener">${withoutScheme(verificationUri)}</a>
      </h1>
      <p>on your phone or computer, and enter this code:</p>
      <p class="code">${userCode}</p>
      <p role="status">Waiting for you…</p>
    </section>`

const switchOff = html`<section class="panel">
  <h2>Connected to Lumen</h2>
  <div class="actions">
    <form method="post" action="/disconnect"><button class="quiet">Forget me</button></form>
  </div>
</section>`
