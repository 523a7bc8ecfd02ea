import express, { type Express } from 'express'
import { createAuthorizationServer, type AuthorizationServerOptions } from '../../../lib/index'
import { canonicalOptions, mountAll, type Mount } from '../flows/application'
import { Flow } from '../flows/flow'
import { startServer } from '../start-server'

/** A server on a port of its own, which clients of others know by its issuer alone. */
export interface ForeignStage {
  readonly issuer: string
  readonly app: Express
  readonly flow: Flow
  /** Where the client is told what the owner of this name decides about the request at this URL. */
  readonly answer: (url: URL | string, decision?: string, owner?: string) => Promise<URL>
}

/** Starts one for the tests of a file. */
export function foreignStage(
  optionsOf: (
    issuer: string,
  ) => Partial<AuthorizationServerOptions> | Promise<Partial<AuthorizationServerOptions>>,
  mount: Mount = mountAll,
): () => ForeignStage {
  let stage: ForeignStage | undefined
  let stop: (() => Promise<void>) | undefined
  beforeAll(async () => {
    const app = express()
    const started = await startServer(app)
    const issuer = `http://127.0.0.1:${started.port}`
    const oauth = createAuthorizationServer({ ...canonicalOptions, issuer, ...(await optionsOf(issuer)) })
    mount(app, oauth)
    const flow = new Flow(issuer)
    const answer: ForeignStage['answer'] = async (url, decision = 'approve', owner = 'alice') => {
      const { pathname, search } = new URL(url)
      const decided = await flow.decide(await flow.open(pathname + search, owner), decision, owner)
      return new URL(String(decided.get('Location')))
    }
    stage = { issuer, app, flow, answer }
    stop = async () => {
      await started.stop()
      await oauth.close()
    }
  })
  afterAll(() => stop?.())
  return () => {
    if (stage === undefined) throw new Error('The stage is set before the first test.')
    return stage
  }
}
