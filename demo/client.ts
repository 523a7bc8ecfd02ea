import type { Express, Request } from 'express'
import { homePage, type ClientLook, type PhotoEntry } from './client-pages'
import { sameOrigin } from './same-origin'
import { renewSession } from './session-cookie'
import { Visitor, type Introduction } from './visitor'
import { webApp, type WebAppSettings } from './web-app'

export interface ClientSettings extends WebAppSettings {
  readonly resourceServer: string
}

/** A web application that shows its visitors the photos which another service keeps for them. */
export function client(settings: ClientSettings, look: ClientLook, introduction: Introduction): void {
  const visitorOf = ({ session }: Request) => new Visitor(session, introduction, settings.resourceServer)
  webApp(settings, look, (app) => addRoutes(app, look, visitorOf))
}

function addRoutes(app: Express, look: ClientLook, visitorOf: (request: Request) => Visitor): void {
  app.get('/', async (request, response) => {
    const answer = await visitorOf(request).fetch('/photos')
    const photos: PhotoEntry[] = answer?.ok === true ? JSON.parse(await answer.text()) : []
    if (answer?.ok === false) request.session.notice = 'photos_refused'
    const { tokens, notice, steps = [] } = request.session
    delete request.session.notice
    response.set('Cache-Control', 'no-store').send(homePage(look, { tokens, photos, notice, steps }))
  })

  app.post('/connect', sameOrigin, async (request, response) => {
    response.redirect(303, (await visitorOf(request).depart()) ?? '/')
  })

  app.get('/callback', async (request, response) => {
    await visitorOf(request).arrive(new URL(request.url, 'http://localhost').searchParams)
    response.redirect(303, '/')
  })

  app.post('/refresh', sameOrigin, async (request, response) => {
    await visitorOf(request).refresh()
    response.redirect(303, '/')
  })

  app.post('/disconnect', sameOrigin, async (request, response) => {
    const notice = await visitorOf(request).disconnect()
    await renewSession(request)
    request.session.notice = notice
    response.redirect(303, '/')
  })

  app.get('/photos/:id', async (request, response) => {
    const answer = await visitorOf(request).fetch(`/photos/${encodeURIComponent(request.params.id)}`)
    if (answer?.ok !== true) return response.sendStatus(404)
    const picture = Buffer.from(await answer.arrayBuffer())
    return response.set('Cache-Control', 'no-store').type('image/svg+xml').send(picture)
  })
}
