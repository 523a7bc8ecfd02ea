import type { SigningAlgorithm } from '../jwt/signing-keys/signing-key'

// The plug-in imports this file, so the types reach the declarations of the package.
declare module '../protocol/client' {
  interface ClientRegistration {
    /**
     * With `openIdConnect()`. Whether the client gets the identifiers of the host, or those of its sector
     * (OpenID Connect Core 8). `pairwise` needs the option `pairwise`. Default `public`.
     */
    readonly subject_type?: 'public' | 'pairwise' | undefined
    /**
     * With `openIdConnect()`. The https URL of a JSON list with every redirection URI of the sector, at most
     * 2048 characters, whose host names the sector. Not fetched for a registration of the host. Default: the
     * one host of all redirection URIs.
     */
    readonly sector_identifier_uri?: string | undefined
    /**
     * With `openIdConnect()`. The algorithm of the ID tokens. Default: the option `algorithm`; for a client
     * that registers itself, `RS256`.
     */
    readonly id_token_signed_response_alg?: SigningAlgorithm | undefined
    /** With `openIdConnect()`. `max_age` of a request that names none, in whole seconds. Default: any age. */
    readonly default_max_age?: number | undefined
    /** With `openIdConnect()`. Whether an ID token must have `auth_time`. Default `false`. */
    readonly require_auth_time?: boolean | undefined
    /**
     * With `openIdConnect()`. Whether ID tokens have the claims of the approved scopes. Default: the option
     * `idTokenClaims`.
     */
    readonly id_token_claims?: boolean | undefined
    /**
     * With `openIdConnect()`. `acr_values` of a request that names none, the preferred one first. Default
     * none.
     */
    readonly default_acr_values?: readonly string[] | undefined
    /**
     * With `openIdConnect()`. The https URL at which others may let the client begin a login (OpenID Connect
     * Core 4). Default none.
     */
    readonly initiate_login_uri?: string | undefined
    /**
     * With `openIdConnect()`. Where the client hears of a logout (OpenID Connect Back-Channel Logout 1.0): an
     * https URL, or an http one on loopback, without a fragment, at most 2048 characters. Default: nowhere.
     */
    readonly backchannel_logout_uri?: string | undefined
    /** With `openIdConnect()`. Only `false`: the server has no `sid`. Default `false`. */
    readonly backchannel_logout_session_required?: false | undefined
  }
}
