import { checkedGrantType } from '../authorization/grant-type'
import type { PlugIns } from '../doors/plug-ins'
import type { At, Door } from '../protocol/acting-extensions'
import { checkedResponseType, ResponseTypes } from '../authorization/response-types'
import { restrictorsOf } from '../authorization/restrict'
import { usualFormatOf } from '../config/access-token-formats'
import { isOwnExtension, offeredGrantTypes } from '../config/plug-ins'
import type { ServerSettings } from '../config/settings'
import { withConfirmation } from '../protocol/confirmation'
import { publishedSubjectBy } from '../protocol/published-subject'
import { namedModes } from '../protocol/response-modes'
import { offlineAccess } from '../protocol/scope'
import { authorizationCode, clientCredentials, refreshToken } from '../token-endpoint/grant-types/built-in'

export function sortPlugIns(settings: ServerSettings): PlugIns {
  const { accessTokenFormats, extensions, offlineAccess: ignoresOffline } = settings
  const at = <Name extends Door>(door: Name): readonly At<Name>[] =>
    extensions.filter((extension): extension is At<Name> => extension[door] !== undefined)
  const builtIn = [authorizationCode, refreshToken, clientCredentials]
  const grantTypes = byName([...builtIn, ...settings.grantTypes.map(checkedGrantType)])
  const offered = offeredGrantTypes(settings, [...grantTypes.keys()])
  return {
    grantTypes: new Map([...grantTypes].filter(([name]) => offered.includes(name))),
    offeredGrantTypes: offered,
    responseTypes: new ResponseTypes(settings.responseTypes.map(checkedResponseType)),
    responseModes: namedModes(settings.responseModes),
    tokenTypes: byName(settings.tokenTypes),
    formats: byName(accessTokenFormats),
    usualFormat: usualFormatOf(accessTokenFormats),
    confirmationOf: (
      { tokenData, extensionData: tokenExtensionData, ...own },
      { tokenType: usual, extensionData },
    ) => {
      const { tokenType = usual } = own
      return withConfirmation({}, settings, { tokenType, tokenData, extensionData, tokenExtensionData })[
        'cnf'
      ]
    },
    restrictors: restrictorsOf(extensions, isOwnExtension),
    ignoredScope: [
      ...extensions.flatMap(({ ignoredScope = [] }) => ignoredScope),
      ...(ignoresOffline ? [offlineAccess] : []),
    ],
    publishedSubject: publishedSubjectBy(extensions),
    resolveRequest: at('resolveRequest'),
    loginDefaults: at('loginDefaults'),
    atResourceOwner: at('atResourceOwner'),
    askOwner: at('askOwner'),
    atDecision: at('atDecision'),
    atTokenResponse: at('atTokenResponse'),
    claims: at('claims'),
    atRefresh: at('atRefresh'),
    bindsRefreshToken: at('bindsRefreshToken'),
  }
}

const byName = <Part extends { readonly name: string }>(parts: readonly Part[]): ReadonlyMap<string, Part> =>
  new Map(parts.map((part) => [part.name, part]))
