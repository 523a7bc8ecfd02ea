// The types of the members that request objects add to a registration. A file that only declares them ends up in the
// declarations of the package, because the plug-in imports it.
declare module '../protocol/client' {
  interface ClientRegistration {
    /**
     * With `requestObjects()`. The public keys of the client, a JWK set of at most 12 keys. Default: those of
     * `credentials.private_key_jwt`, if the client has any.
     */
    readonly jwks?: { readonly keys: readonly object[] } | undefined
    /** With `requestObjects()`. The https URL at which the client publishes its keys, in place of `jwks`. */
    readonly jwks_uri?: string | undefined
    /**
     * With `requestObjects()`. The only algorithm of the request objects of the client. Default: every algorithm of the
     * option `algorithms`.
     */
    readonly request_object_signing_alg?: string | undefined
    /** With `requestObjects()`. Whether each request of the client must be a request object. Default `false`. */
    readonly require_signed_request_object?: boolean | undefined
  }
}
