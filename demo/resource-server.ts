import type { Express } from 'express'
import helmet from 'helmet'
import type { Store as AuthorizationStore } from '../lib/index'
import { createBearerGuard, type StandaloneGuard } from '../lib/paths/guards'
import { landscape } from './landscape'
import { mcpServer, mcpUrl, photoScopes, resourcesAt } from './mcp-server'
import { photosFor } from './photos'
import { workspaceName } from './workspaces'

/**
 * An API with photos, and an MCP server beside it. All they share with the authorization server is the store, the name
 * of the issuer and the names of the resources.
 */
export function resourceServer({
  app,
  url,
  issuer,
  store,
}: {
  readonly app: Express
  /** Where the API is: the name of its resource. */
  readonly url: string
  /** Of the authorization server. */
  readonly issuer: string
  readonly store: AuthorizationStore
}): StandaloneGuard {
  app.use(helmet())
  const scopes = Object.keys(photoScopes)
  const guard = createBearerGuard({
    issuer,
    store,
    resources: Object.fromEntries(
      Object.entries(resourcesAt(url)).map(([uri, name]) => [uri, { scopes, name }]),
    ),
    defaultResource: url,
    choices: true,
  })
  app.use(mcpServer(guard, mcpUrl(url)))

  app.get('/', guard({ optional: true }), (request, response) => {
    response.json({
      service: 'Lumen photos',
      caller: request.oauth?.subject ?? request.oauth?.clientId ?? 'anybody',
    })
  })

  app.get('/photos', guard('photos:read'), ({ oauth }, response) => {
    response.json(
      photosFor(oauth).map(({ id, title, place, workspace }) => ({
        id,
        title,
        place,
        workspace: workspaceName(workspace),
      })),
    )
  })

  app.get('/photos/:id', guard('photos:read'), (request, response) => {
    const photo = photosFor(request.oauth).find(({ id }) => id === request.params['id'])
    if (photo === undefined) return response.status(404).json({ error: 'not_found' })
    return response.set('Cache-Control', 'no-store').type('image/svg+xml').send(landscape(photo))
  })

  app.post('/photos', guard('photos:write'), (_request, response) => {
    response.status(202).json({ accepted: true })
  })
  return guard
}
