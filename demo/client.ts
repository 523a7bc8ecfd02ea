import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import express, { type Express, type Request } from 'express'
import session, { type Store } from 'express-session'
import helmet from 'helmet'
import { awayPage, homePage, type PhotoEntry } from './client-pages'
import type { Registration } from './connection'
import { sameOrigin } from './same-origin'
import { needsSession, troublePage } from './storage-away'
import { Visitor } from './visitor'

export interface ClientSettings extends Registration {
  readonly app: Express
  readonly resourceServer: string
  readonly sessions: Store
}

/** Photo Book: a web application that shows its visitors the photos which another service keeps for them. */
export function client({ app, resourceServer, sessions, ...registration }: ClientSettings): void {
  app.use(
    helmet({
      contentSecurityPolicy: {
        directives: {
          styleSrc: ["'self'"],
          // Browsers hold it against the redirect that answers the form as well.
          formAction: ["'self'", registration.authorizationServer],
          // Safari would upgrade localhost too, where nothing speaks https.
          upgradeInsecureRequests: null,
        },
      },
    }),
  )
  app.use(express.static(join(__dirname, 'client-assets')))
  app.use(
    session({
      // The cookies of localhost are shared by all its ports, so the apps must not use the same name.
      name: 'photo-book.sid',
      secret: process.env['SESSION_SECRET'] ?? randomBytes(32).toString('base64url'),
      store: sessions,
      resave: false,
      saveUninitialized: false,
      // Not strict: whoever comes back from the authorization server would arrive without the session.
      cookie: { sameSite: 'lax', httpOnly: true, secure: 'auto' },
    }),
  )
  app.use(needsSession(awayPage()))
  const visitorOf = (request: Request) => new Visitor(request.session, registration, resourceServer)

  app.get('/', async (request, response) => {
    const answer = await visitorOf(request).fetch('/photos')
    const photos: PhotoEntry[] = answer?.ok === true ? JSON.parse(await answer.text()) : []
    const { tokens, notice, steps = [] } = request.session
    delete request.session.notice
    response.set('Cache-Control', 'no-store').send(homePage({ tokens, photos, notice, steps }))
  })

  app.post('/connect', sameOrigin, (request, response) => {
    response.redirect(303, visitorOf(request).depart())
  })

  app.get('/callback', async (request, response) => {
    await visitorOf(request).arrive(new URL(request.url, registration.redirect_uri).searchParams)
    response.redirect(303, '/')
  })

  app.post('/refresh', sameOrigin, async (request, response) => {
    await visitorOf(request).refresh()
    response.redirect(303, '/')
  })

  app.post('/disconnect', sameOrigin, async (request, response, next) => {
    const notice = await visitorOf(request).disconnect()
    request.session.regenerate((error) => {
      if (error) return next(error)
      request.session.notice = notice
      response.redirect(303, '/')
    })
  })

  app.get('/photos/:id', async (request, response) => {
    const answer = await visitorOf(request).fetch(`/photos/${encodeURIComponent(request.params.id)}`)
    if (answer?.ok !== true) return response.sendStatus(404)
    const picture = Buffer.from(await answer.arrayBuffer())
    return response.set('Cache-Control', 'no-store').type('image/svg+xml').send(picture)
  })

  app.use(troublePage(awayPage()))
}
