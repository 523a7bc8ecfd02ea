import { loginReferenceOf, requestDigest } from '../authorization-endpoint/open-request'
import { findClaimable } from '../authorization/requested'
import { ClientKeys, mistakeInKeys } from '../client-authentication/client-keys'
import { aDocumentFetch, type DocumentFetch } from '../clients/document-fetch/document-fetch'
import type { Plugin, PluginParts, PluginServer } from '../doors/plug-in'
import { verifiedAlgorithms } from '../jwt/verify-jwt'
import { aFlag, someSeconds } from '../primitives/fields'
import { type Fields, optional, type Read, readOptions } from '../primitives/schema'
import { isText } from '../primitives/values'
import { booleanMember, type Client, type ClientMember, privateKeyJwtName } from '../protocol/client'
import { dataOf } from '../protocol/extension-data'
import type { Json } from '../protocol/json'
import { OAuthError } from '../protocol/oauth-error'
import type { Parameters } from '../protocol/parameters'
import { refused, type Reason } from '../protocol/refusals'
import type { Sender } from '../protocol/sender'
import { endOfObject, openRequestObject, type RequestObjectTerms } from './open-request-object'

export interface RequestObjectOptions {
  /** Whether each authorization request must be a request object, also a pushed one. Default `false`. */
  readonly required?: boolean
  /**
   * Signature algorithms (RFC 7518 3.1, RFC 8037 3.1). Default: all asymmetric ones, the only ones supported.
   */
  readonly algorithms?: readonly string[]
  /** Whole seconds by which clocks may differ, 0 to 300. Default 30. */
  readonly clockTolerance?: number
  /**
   * Whole seconds from now to the end of a request object, 1 to 86 400, plus `clockTolerance`. Default 3600.
   */
  readonly maximumLifetime?: number
  /** Fetches the JWK sets at `jwks_uri`, as in `privateKeyJwt()`. Default: the fetch of the server. */
  readonly documents?: DocumentFetch
}

declare module '../protocol/client' {
  interface ClientRegistration {
    /**
     * With `requestObjects()`. The public keys of the client, a JWK set of at most 12 keys. Default: those of
     * `credentials.private_key_jwt`.
     */
    readonly jwks?: { readonly keys: readonly object[] } | undefined
    /** With `requestObjects()`. The https URL of the client's keys, in place of `jwks`. */
    readonly jwks_uri?: string | undefined
    /**
     * With `requestObjects()`. The only algorithm of the request objects. Default: those of the option
     * `algorithms`.
     */
    readonly request_object_signing_alg?: string | undefined
    /**
     * With `requestObjects()`. Whether each request of the client must be a request object. Default `false`.
     */
    readonly require_signed_request_object?: boolean | undefined
  }
}

/**
 * JWT-secured authorization requests (RFC 9101): a client signs its request, and sends it as the parameter
 * `request` with `client_id`, by `GET`, by `POST` or in a pushed request. Only the parameters of the object
 * count. The registration holds the public keys: `jwks`, `jwks_uri` or `credentials.private_key_jwt`.
 *
 * The object has the type `oauth-authz-req+jwt`, `iss` and `client_id`, both the `client_id`, `aud`, which
 * names this issuer, and `exp`, no `sub` that is the client, and at most 16 KiB. A client with the scope
 * `openid` may leave out type and end (OpenID Connect Core 6.1): its object then has `response_type`, and no
 * `sub`. Until its end, an object may come any number of times; an owner may log in meanwhile. The server
 * takes no encrypted object, and refuses a `request_uri` of the client (`request_uri_not_supported`).
 *
 * @throws ConfigurationError if an option is wrong.
 */
export function requestObjects(options: RequestObjectOptions = {}): Plugin {
  const read = readOptions('requestObjects()', fields, options)
  return { name: 'request-objects', open: (server) => objectResolver(server, read) }
}

const expired: Reason = 'request_object_expired'

function objectResolver(
  server: PluginServer,
  { required, documents, ...bounds }: Read<typeof fields>,
): PluginParts {
  const terms: RequestObjectTerms = { ...bounds, issuer: server.issuer }
  const clientKeys = new ClientKeys(keysIn, documents)
  const open = async (object: string, client: Client, at: number, sender: Sender) => {
    const keys = clientKeys.of(client, server, sender)
    if (keys === undefined) throw refused('request_object_without_keys')
    return openRequestObject(object, client, keys, at, terms)
  }
  return {
    clientMembers: requestObjectMembers(terms.algorithms),
    authorizationParameters: ['request', 'request_uri'],
    authorizationMetadata: {
      request_parameter_supported: true,
      request_object_signing_alg_values_supported: terms.algorithms,
      require_signed_request_object: required,
    },

    async resolve(parameters, client, { hasRecord, sender }) {
      const object = parameters.get('request')
      // RFC 6749 3.1: an empty one counts as omitted, and must not stand in.
      const hasUri = parameters.get('request_uri') !== undefined
      if (object === undefined) {
        // A pushed request was an object then.
        if (hasRecord || hasUri || !(required || client.members['require_signed_request_object'] === true))
          return undefined
        throw refused('request_object_missing')
      }
      // RFC 9101 5
      if (hasUri) throw refused('request_object_and_uri')
      try {
        return { parameters: await open(object, client, server.now(), sender) }
      } catch (error) {
        if (!(error instanceof OAuthError) || error.reason !== expired) throw error
        const at = await sentToLoginAt(server, parameters, client)
        if (at === undefined) throw error
        return { parameters: await open(object, client, at, sender) }
      }
    },

    authorize({ parameters, owner }) {
      // RFC 9101 6.2: the server would have to fetch a URL that anybody can name.
      if (parameters.get('request_uri') !== undefined) throw refused('parameter_not_supported/request_uri')
      // The object may end before its owner returns; the record of a demanded login says when the request
      // came.
      return owner === undefined && parameters.mentions(endOfObject) ? { logIn: {} } : undefined
    },
  }
}

/** Undefined if never, or too long ago. */
async function sentToLoginAt(
  server: PluginServer,
  parameters: Parameters,
  { client_id: clientId }: Client,
): Promise<number | undefined> {
  const named = loginReferenceOf(parameters)
  if (named === undefined) return undefined
  const presented = { handle: named.reference, clientId }
  const claimable = findClaimable(await server.find(named.id), presented, server.now())
  if (claimable instanceof OAuthError) return undefined
  const { demandedLogin } = claimable
  return demandedLogin?.parameters === requestDigest(parameters) ? demandedLogin.at : undefined
}

export const fields = {
  required: aFlag(false),
  algorithms: verifiedAlgorithms,
  clockTolerance: someSeconds(30, 0, 300),
  maximumLifetime: someSeconds(3600, 1, 86_400),
  documents: optional(aDocumentFetch),
} satisfies Fields<RequestObjectOptions>

export const longestUri = 2048

/** RFC 9101 10.5, RFC 7591 2. */
function requestObjectMembers(algorithms: readonly string[]): readonly ClientMember[] {
  return [
    {
      name: 'jwks',
      mistakeIn: mistakeInKeys,
      conflictIn: (_keys, { members }) =>
        members['jwks_uri'] === undefined ? undefined : 'cannot stand together with jwks_uri.',
    },
    {
      name: 'jwks_uri',
      mistakeIn: (uri) =>
        isText(uri) && uri.length <= longestUri && mistakeInKeys({ jwks_uri: uri }) === undefined
          ? undefined
          : `must be an https URL of at most ${longestUri} characters, without user name, password and fragment.`,
    },
    {
      name: 'request_object_signing_alg',
      mistakeIn: (algorithm) =>
        isText(algorithm) && algorithms.includes(algorithm)
          ? undefined
          : `must be one of ${algorithms.join(', ')}.`,
    },
    {
      ...booleanMember('require_signed_request_object'),
      conflictIn: (value, client) =>
        value === true && keysIn(client) === undefined
          ? 'needs the keys of the client, in jwks, jwks_uri or credentials.private_key_jwt.'
          : undefined,
    },
  ]
}

function keysIn({ members: { jwks, jwks_uri }, credentials }: Client): Json | undefined {
  if (jwks !== undefined) return jwks
  return jwks_uri === undefined ? dataOf(privateKeyJwtName, credentials) : { jwks_uri }
}
