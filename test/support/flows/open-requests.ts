import type { Response } from 'supertest'
import { photoBook } from './clients'
import { consentFormOf } from './consent-form'
import { deviceCode, television } from './device-stage'
import { authorizationRequest, type Flow } from './flow'
import { codeOf } from './redirection'

/** A request, its owner at a browser and its client, who may come to any process. */
export interface OpenRequest {
  page(flow: Flow, owner?: string): Promise<Response>
  decide(flow: Flow, page: Response, decision: string, owner?: string): Promise<Response>
  /** What the client gets for an answer to its owner. */
  tokens(flow: Flow, answer: Response): Promise<Response>
}

const atClient = {
  decide: (flow: Flow, page: Response, decision: string, owner = 'alice') =>
    flow.decide(page, decision, owner),
  tokens: (flow: Flow, answer: Response) => flow.redeem(photoBook, codeOf(answer)),
}

/** A request opens in each way. */
export const ways = {
  async browser(flow: Flow, owner = 'alice'): Promise<OpenRequest> {
    const page = await flow.ask(authorizationRequest(photoBook), owner)
    return { ...atClient, page: async () => page }
  },
  async pushed(flow: Flow): Promise<OpenRequest> {
    const asked = authorizationRequest(photoBook)
    const { body } = await flow.request(photoBook, asked, '/par')
    const brought = { client_id: asked.client_id, request_uri: String(body.request_uri) }
    return { ...atClient, page: (at, owner = 'alice') => at.ask(brought, owner) }
  },
  async device(flow: Flow, _owner = 'alice', client = television): Promise<OpenRequest> {
    const { body } = await flow.request(client, { scope: 'photos:read' }, '/device_authorization')
    return {
      page: (at, owner = 'alice') => at.enterCode({ user_code: body.user_code }, owner),
      decide: (at, page, decision, owner = 'alice') =>
        at.submit('/device', { ...consentFormOf(page, '/device').fields, decision }, owner),
      tokens: (at) => at.request(client, { grant_type: deviceCode, device_code: body.device_code }),
    }
  },
}
export const wayNames = ['browser', 'pushed', 'device'] as const
