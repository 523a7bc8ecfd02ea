import { isTexts } from '../../primitives/values'
import type { Extension, ExtensionTokenRequest, TokenRestriction } from '../../protocol/extension'
import {
  dataOf,
  type ExtensionData,
  type KeptData,
  type KeptExtensionData,
} from '../../protocol/extension-data'
import { opaqueFormat } from '../../protocol/access-token-format'
import type { Json } from '../../protocol/json'
import { refused, type Reason } from '../../protocol/refusals'
import type { Parameters } from '../../protocol/parameters'
import { type Scope, scopeRefusal } from '../../protocol/scope'
import { isResourceUri, type Resource, type Resources } from './resources'

declare global {
  namespace Express {
    interface AccessMembers {
      /**
       * What the token is for: resources, as the option `resources` names them, and other targets of an
       * exchange. Undefined without this option.
       */
      readonly audience?: readonly string[]
    }
  }
}

/** In `grant.extensionData`, the URIs to which a grant type binds its tokens. */
export const resourceIndicatorsName = 'resource-indicators'

/** RFC 8707. Later requests only narrow what an owner approved. */
export function resourceIndicators(resources: Resources, usualFormat = opaqueFormat): Extension {
  const formats = resources.all.some(({ accessTokenFormat }) => accessTokenFormat !== undefined)
    ? new Map(resources.all.map((each) => [each, each.accessTokenFormat ?? usualFormat]))
    : undefined
  return {
    name: resourceIndicatorsName,

    authorize({ parameters, scope }) {
      const named = askedIn(parameters, resources)
      const requestedScope = (parameters.get('scope') ?? '').split(' ')
      const data = named.length > 0 ? named : usualFor(resources, requestedScope)
      const asked = resources.among(data)
      const values = asked
        .filter((each) => resources.all.includes(each))
        .map(({ uri, name }) => ({ value: uri, description: name ?? uri }))
      return {
        data,
        scope: scopeWithin([...scopesOf(asked), ...scopesOf(resources.ofPlugins)], scope, requestedScope),
        facts: values.length === 0 ? [] : [{ name: 'resource', label: 'Access to', values }],
      }
    },

    issue: (request) => restrictionOf(request, resources, formats),

    admit({ resource, ...kept }) {
      const isFor = audienceOf(kept, resources).some(
        (uri) => uri === resource || resources.find(uri)?.uri === resource,
      )
      return resource !== undefined && isFor ? undefined : tokenResource
    },

    describe(kept, to) {
      const audience = audienceOf(kept, resources)
      if (to === 'access') return { audience }
      return audience.length === 0 ? undefined : { aud: audience }
    },
  }
}

/** Without the option `resources`, nobody knows them: refuse the token. */
export const isForCertainResources = ({ extensionData, tokenExtensionData }: KeptExtensionData): boolean =>
  Object.hasOwn(extensionData, resourceIndicatorsName) ||
  Object.hasOwn(tokenExtensionData, resourceIndicatorsName)

/** Undefined if the token is for no certain resource. */
export const audienceIn = ({ tokenExtensionData, extensionData }: KeptExtensionData): Json | undefined =>
  dataOf(resourceIndicatorsName, tokenExtensionData) ?? dataOf(resourceIndicatorsName, extensionData)

export const approvedResources = (extensionData: ExtensionData, resources: Resources): readonly string[] =>
  audienceOf(
    { authorizationData: dataOf(resourceIndicatorsName, extensionData), tokenData: undefined },
    resources,
  )

// RFC 6750 3.1.
export const tokenResource: Reason = 'token_resource'

// Each guarded request reads the list in the record.
const resourcesAtMost = 8

function askedIn(
  parameters: Parameters,
  resources: Resources,
  approved: readonly string[] = [],
): readonly string[] {
  const uris = parameters.all('resource')
  if (uris.length === 0) return []
  if (uris.length > resourcesAtMost) throw refused('resource_too_many')
  requireResourceUris(uris, resources)
  const unknown = uris.find((uri) => resources.find(uri) === undefined && !approved.includes(uri))
  if (unknown !== undefined)
    throw refused('resource_unknown', { sent: unknown, known: urisOf(resources.all) })
  return resources.targetsIn(uris)
}

export function requireResourceUris(uris: readonly string[], resources?: Resources): void {
  const malformed = uris.find((uri) => !isResourceUri(uri))
  if (malformed !== undefined)
    throw refused('resource_malformed', { sent: malformed, known: resources && urisOf(resources.all) })
}

function requireDefault({ defaultResource, all }: Resources): readonly string[] {
  if (defaultResource !== undefined) return [defaultResource.uri]
  throw refused('resource_missing', { known: urisOf(all) })
}

type Formats = ReadonlyMap<Resource, string>

/**
 * For a request that names none. Scopes of plug-ins alone, as for a login, give no access to the default one.
 */
function usualFor(resources: Resources, scope: readonly string[]): readonly string[] {
  const { all, ofPlugins } = resources
  const besides = ofPlugins.filter(({ scopes }) => scopes.some((token) => scope.includes(token)))
  const [own, others] = [scopesOf(all), scopesOf(besides)]
  const isOfPlugins = scope.every((token) => others.includes(token) && !own.includes(token))
  return [...(isOfPlugins ? [] : requireDefault(resources)), ...urisOf(besides)]
}

function restrictionOf(
  request: ExtensionTokenRequest,
  resources: Resources,
  formats: Formats | undefined,
): TokenRestriction {
  const { begins, authorizationData, parameters, audience, scope, requestedScope } = request
  const asked = askedIn(parameters, resources, audience)
  const approved = begins ? boundOf(request, resources) : approvedIn(request, resources)
  // RFC 8693 2.1: only the policy of the exchange knows the URIs that `audience` names.
  const isByPolicy = audience.length > 0 && parameters.all('audience').length > 0
  const chosen = asked.length > 0 && !isByPolicy ? asked : (approved ?? requireDefault(resources))
  // RFC 8707 2.2.
  if (chosen.length === 0 || (approved !== undefined && !isWithin(asked, approved)))
    throw notApproved(asked, approved)
  const known = resources.among(chosen)
  const lifetimes = known.flatMap(({ accessTokenLifetime }) => accessTokenLifetime ?? [])
  const isNarrower = chosen.length < (listIn(authorizationData)?.length ?? 1)
  return {
    scope: scopeWithin(availableTo(request, known, resources), scope, requestedScope),
    ...(lifetimes.length === 0 ? {} : { lifetime: Math.min(...lifetimes) }),
    ...(begins ? { authorizationData: chosen } : {}),
    ...(!begins && isNarrower ? { tokenData: chosen } : {}),
    ...(formats === undefined ? {} : formatOf(known, formats)),
  }
}

// A token has one text, and each resource reads its own format.
function formatOf(known: readonly Resource[], formats: Formats): Pick<TokenRestriction, 'format'> {
  const [format, other] = new Set(known.flatMap((resource) => formats.get(resource) ?? []))
  if (other !== undefined) throw refused('resource_formats_differ', { sent: urisOf(known) })
  return format === undefined ? {} : { format }
}

/** RFC 8693 1.1: the scope of a subject token bounds all. Other targets have that of the grant. */
function availableTo(
  { scope, subjectToken }: ExtensionTokenRequest,
  known: readonly Resource[],
  { ofPlugins }: Resources,
): Scope {
  const available = known.length > 0 ? [...scopesOf(known), ...scopesOf(ofPlugins)] : scope
  return subjectToken === undefined
    ? available
    : available.filter((token) => subjectToken.scope.includes(token))
}

const notApproved = (sent: readonly string[], approved?: readonly string[]) =>
  refused('resource_not_approved', { sent, approved })

/** One from before the option `resources` is for the default resource. */
function approvedIn({ authorizationData }: ExtensionTokenRequest, resources: Resources): readonly string[] {
  const kept = listIn(authorizationData)
  return kept === undefined ? requireDefault(resources) : urisOf(resources.among(kept))
}

/** Undefined if only the request names any. Targets that a grant type has approved count alone. */
function boundOf(
  { authorizationData, subjectToken, audience }: ExtensionTokenRequest,
  resources: Resources,
): readonly string[] | undefined {
  if (authorizationData !== undefined && !isTexts(authorizationData))
    throw new TypeError(`extensionData["${resourceIndicatorsName}"] of a grant must be a list of URIs.`)
  const byGrant = authorizationData && urisOf(resources.among(authorizationData))
  // RFC 8693 1.1.
  const byToken = subjectToken && resources.targetsIn(audienceOf(subjectToken, resources))
  const bound = byGrant && byToken ? byGrant.filter((uri) => byToken.includes(uri)) : (byGrant ?? byToken)
  if (audience.length === 0) return bound
  const targets = resources.targetsIn(audience)
  // No guard knows other targets: a subject token says nothing about them.
  const guarded = byGrant === undefined ? urisOf(resources.among(targets)) : targets
  if (bound !== undefined && !isWithin(guarded, bound)) throw notApproved(guarded, bound)
  return targets
}

function scopeWithin(available: Scope, scope: Scope, requested: Scope | undefined): Scope {
  const lacking = scope.filter((token) => !available.includes(token))
  if (lacking.length === 0) return scope
  if (lacking.length === scope.length || lacking.some((token) => requested?.includes(token)))
    throw scopeRefusal('scope_of_another_resource', scope, available, {
      'scope of the resource': available,
    })
  return scope.filter((token) => available.includes(token))
}

const audienceOf = ({ authorizationData, tokenData }: KeptData, resources: Resources): readonly string[] =>
  listIn(tokenData) ?? listIn(authorizationData) ?? urisOf([resources.defaultResource ?? []].flat())

// Anything else in a record names no resource.
function listIn(data: Json | undefined): readonly string[] | undefined {
  if (data === undefined) return undefined
  return isTexts(data) ? data : []
}

const urisOf = (resources: readonly Resource[]) => resources.map(({ uri }) => uri)
const scopesOf = (resources: readonly Resource[]): Scope => resources.flatMap(({ scopes }) => scopes)
const isWithin = (part: readonly string[], whole: readonly string[]) =>
  part.every((target) => whole.includes(target))
