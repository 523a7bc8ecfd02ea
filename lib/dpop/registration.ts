// The plug-in imports this file of types, so it ends up in the declarations of the package.
declare module '../protocol/client' {
  interface ClientRegistration {
    /**
     * With `dpop()`. Whether each token request of the client needs a DPoP proof (RFC 9449 5.2). Default: the
     * option `required`.
     */
    readonly dpop_bound_access_tokens?: boolean | undefined
  }
}
