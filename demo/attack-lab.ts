import type { Express, Request } from 'express'
import { attackLab, attackNames, attackPage, homePage, type AttackName } from './attack-lab-pages'
import { codeIn, depart, NotConnected, type Registration } from './connection'
import type { Exchange } from './exchange'
import { guessSecret, type Target } from './guessing'
import { replayCode } from './replay'
import { sameOrigin } from './same-origin'
import { webApp, type WebAppSettings } from './web-app'

declare module 'express-session' {
  interface SessionData {
    /** What the last attack of each name has shown. */
    attacks: Partial<Record<AttackName, readonly Exchange[]>>
  }
}

export interface AttackLabSettings extends WebAppSettings {
  readonly resourceServer: string
  /** The client whose secret the lab guesses at. The lab knows it, to show what the service itself gets. */
  readonly target: Target
}

/** Attack Lab: attacks Lumen at the press of a button, and shows what comes of it. */
export function attackLabApp(settings: AttackLabSettings, registration: Registration): void {
  webApp(settings, attackLab, (app) => {
    addPages(app)
    addReplay(app, registration, settings.resourceServer)
    addGuesses(app, settings)
  })
}

function addPages(app: Express): void {
  app.get('/', (request, response) => {
    const { notice } = request.session
    delete request.session.notice
    response.set('Cache-Control', 'no-store').send(homePage(notice))
  })

  for (const name of attackNames)
    app.get(`/${name}`, (request, response) => {
      const exchanges = request.session.attacks?.[name]
      if (exchanges === undefined) return response.redirect(303, '/')
      return response.set('Cache-Control', 'no-store').send(attackPage(name, exchanges))
    })
}

function addReplay(app: Express, registration: Registration, resourceServer: string): void {
  app.post('/replay', sameOrigin, (request, response) => {
    const { location, departure } = depart(registration)
    request.session.departure = departure
    response.redirect(303, location)
  })

  app.get('/callback', async (request, response) => {
    const { departure, attacks } = request.session
    delete request.session.departure
    // The visitor went back and allowed again: what happened stays to be seen.
    if (departure === undefined && attacks?.replay !== undefined) return response.redirect(303, '/replay')
    const answer = new URL(request.url, registration.redirect_uri).searchParams
    const path = await attack(request, 'replay', async () => {
      const stolen = codeIn(registration, answer, departure)
      return replayCode(registration, stolen, resourceServer)
    })
    return response.redirect(303, path)
  })
}

function addGuesses(app: Express, { authorizationServer, target }: AttackLabSettings): void {
  app.post('/guesses', sameOrigin, async (request, response) => {
    const path = await attack(request, 'guesses', () => guessSecret(authorizationServer, target))
    response.redirect(303, path)
  })
}

/** Attacks, and returns the path of the page that shows how it went. */
async function attack(
  { session }: Request,
  name: AttackName,
  act: () => Promise<readonly Exchange[]>,
): Promise<string> {
  try {
    session.attacks = { ...session.attacks, [name]: await act() }
    return `/${name}`
  } catch (error) {
    if (!(error instanceof NotConnected)) throw error
    session.notice = error.code
    return '/'
  }
}
