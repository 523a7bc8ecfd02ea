import { join } from 'node:path'
import express, { type Express } from 'express'
import helmet from 'helmet'
import { awayPage, type AppLook } from './app-page'
import { sessionCookie } from './session-cookie'
import type { Sessions } from './session-store'
import { needsSession, troublePage } from './storage-away'

export interface WebAppSettings {
  readonly app: Express
  /** Where the forms of the app may lead. */
  readonly authorizationServer: string
  readonly sessions: (app: string) => Sessions
}

/** What every client of the demo begins and ends with: headers, styles, sessions, and a page for trouble. */
export function webApp(
  { app, authorizationServer, sessions }: WebAppSettings,
  look: AppLook,
  addRoutes: (app: Express) => void,
): void {
  app.use(
    helmet({
      contentSecurityPolicy: {
        directives: {
          styleSrc: ["'self'"],
          // Browsers hold it against the redirect that answers the form as well.
          formAction: ["'self'", authorizationServer],
          // Safari would upgrade localhost too, where nothing speaks https.
          upgradeInsecureRequests: null,
        },
      },
    }),
  )
  app.use(express.static(join(__dirname, 'client-assets')))
  // No page of the demo is an end: Lumen leads to every app.
  app.get('/lumen', (_request, response) => response.redirect(303, authorizationServer))
  app.use(sessionCookie(sessions(look.key)))
  app.use(needsSession(awayPage(look)))
  addRoutes(app)
  app.use(troublePage(awayPage(look)))
}
