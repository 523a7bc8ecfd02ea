import type { Express, RequestHandler } from 'express'
import { reasonOf, type Registered, type RelyingParty } from '../../../support/openid-connect/relying-party'

/** A client library in the hands of an application that has one user. */
export interface Library {
  /** Where the user logs in. */
  begin(): Promise<URL>
  /** The claims of the user, after the response of the server. */
  finish(response: URL): Promise<object>
  refresh(): Promise<object>
  /** Where the user logs out. */
  end(): URL
}

/** The application around a library: the paths `/login`, `/callback`, `/refresh` and `/logout`. */
export const applicationOf = (libraryFor: (registered: Registered) => Library): RelyingParty => ({
  login: '/login',
  callback: '/callback',
  mount(app: Express, registered) {
    const library = libraryFor(registered)
    app.get(
      '/login',
      trying(async (_req, res) => res.redirect((await library.begin()).href)),
    )
    app.get(
      '/callback',
      trying(async (req, res) => {
        res.json(await library.finish(new URL(req.url, registered.url)))
      }),
    )
    app.get(
      '/refresh',
      trying(async (_req, res) => void res.json(await library.refresh())),
    )
    app.get(
      '/logout',
      trying(async (_req, res) => res.redirect(library.end().href)),
    )
    app.get('/bye', (req, res) => void res.json(req.query))
  },
})

const trying =
  (route: (...given: Parameters<RequestHandler>) => Promise<void>): RequestHandler =>
  async (...given) => {
    const [, res] = given
    await route(...given).catch((error: unknown) => void res.status(401).json({ refused: reasonOf(error) }))
  }
