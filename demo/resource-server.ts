import type { Express } from 'express'
import helmet from 'helmet'
import { createBearerGuard, type AuthorizationStore, type RemoteGuard } from '../lib/index'
import { landscape } from './landscape'
import { photos } from './photos'

/** An API with photos. All it shares with the authorization server is the store and the name of the issuer. */
export function resourceServer({
  app,
  issuer,
  store,
}: {
  readonly app: Express
  /** Of the authorization server. */
  readonly issuer: string
  readonly store: AuthorizationStore
}): RemoteGuard {
  app.use(helmet())
  const guard = createBearerGuard({ issuer, store })

  app.get('/', guard({ optional: true }), (request, response) => {
    response.json({
      service: 'Lumen photos',
      caller: request.oauth?.subject ?? request.oauth?.clientId ?? 'anybody',
    })
  })

  app.get('/photos', guard('photos:read'), (_request, response) => {
    response.json(photos.map(({ id, title, place }) => ({ id, title, place })))
  })

  app.get('/photos/:id', guard('photos:read'), (request, response) => {
    const photo = photos.find(({ id }) => id === request.params['id'])
    if (photo === undefined) return response.status(404).json({ error: 'not_found' })
    return response.set('Cache-Control', 'no-store').type('image/svg+xml').send(landscape(photo))
  })

  app.post('/photos', guard('photos:write'), (_request, response) => {
    response.status(202).json({ accepted: true })
  })
  return guard
}
