import { authorizationRequest } from '../../support/flows/flow'
import { outcomeOf } from '../../support/flows/outcome'
import { Prover, proverNames } from '../../support/flows/prover'
import { signedBy } from './client-assertions'
import type { Exercise } from './exercises'
import { type Host, ofHost } from './hosts'
import * as registries from './registries'

const hasOwners = ({ metadata }: Host) => metadata['authorization_endpoint'] !== undefined
const hasObjects = ({ metadata }: Host) => metadata['request_parameter_supported'] !== undefined

/** What comes of a request whose parameters stand in an object of this algorithm alone. */
async function askByObject(host: Host, alg: string): Promise<string> {
  const { registration, secret } = host.gallery
  const { client_id } = registration
  const resource = host.resourceOf('photos:read')
  const now = host.now()
  const about = { iss: client_id, aud: host.issuer, iat: now, exp: now + 60 }
  const claims = { ...authorizationRequest(host.gallery), scope: 'photos:read', resource, ...about }
  const request = signedBy(alg, { typ: 'oauth-authz-req+jwt' }, claims, secret)
  const page = await host.flow.ask({ client_id, request }, 'alice')
  return page.text === ofHost ? ofHost : outcomeOf(page)
}

const withoutObjects = (host: Host) => (hasOwners(host) ? 'redirect invalid_request' : ofHost)

/** A token request with a proof. Proofs of the same algorithms are good at guards. */
export const provingExercise: Exercise = {
  known: proverNames,
  good: 'DPoP',
  refused: ({ metadata }) =>
    metadata['dpop_signing_alg_values_supported'] === undefined ? 'bearer' : 'invalid_dpop_proof',
  async attempt({ flow, gallery, issuer, now, resourceOf }, value) {
    const algorithm = proverNames.find((name) => name === value)
    const prover = new Prover(() => now() * 1000, new URL(issuer).origin, algorithm)
    const resource = resourceOf('photos:read')
    const asked = { grant_type: 'client_credentials', scope: 'photos:read', resource }
    const { body } = await prover.tokens(flow, asked, gallery, flow.paths.token)
    return String(body.token_type ?? body.error)
  },
}

/** How clients use what the metadata says of request objects and of proofs. */
export const signedExercises: readonly (readonly [string, Exercise])[] = [
  [
    'request_parameter_supported',
    {
      known: ['true'],
      good: 'question',
      refused: withoutObjects,
      attempt: (host) => askByObject(host, 'ES256'),
    },
  ],
  [
    'request_object_signing_alg_values_supported',
    {
      known: registries.signingAlgorithms,
      good: 'question',
      refused: (host) => (hasObjects(host) ? 'page 400 invalid_request_object' : withoutObjects(host)),
      attempt: askByObject,
    },
  ],
  [
    'require_signed_request_object',
    {
      known: ['false'],
      good: 'a plain request is good',
      refused: (host) => (hasOwners(host) ? 'a plain request is good' : ofHost),
      async attempt({ flow, book, resourceOf }) {
        const asked = { ...authorizationRequest(book), scope: 'photos:read' }
        const page = await flow.ask({ ...asked, resource: resourceOf('photos:read') }, 'alice')
        if (page.text === ofHost) return ofHost
        return outcomeOf(page) === 'question' ? 'a plain request is good' : outcomeOf(page)
      },
    },
  ],
  ['dpop_signing_alg_values_supported', provingExercise],
]
