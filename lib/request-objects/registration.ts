// A file of its own: the plug-in's import brings the declarations into those of the package.
declare module '../protocol/client' {
  interface ClientRegistration {
    /**
     * With `requestObjects()`. The client's public keys, a JWK set of at most 12 keys. Default: those of
     * `credentials.private_key_jwt`, if there are any.
     */
    readonly jwks?: { readonly keys: readonly object[] } | undefined
    /** With `requestObjects()`. The https URL of the client's keys, in place of `jwks`. */
    readonly jwks_uri?: string | undefined
    /**
     * With `requestObjects()`. The only algorithm of the client's request objects. Default: every algorithm
     * of the option `algorithms`.
     */
    readonly request_object_signing_alg?: string | undefined
    /**
     * With `requestObjects()`. Whether each request of the client must be a request object. Default `false`.
     */
    readonly require_signed_request_object?: boolean | undefined
  }
}
