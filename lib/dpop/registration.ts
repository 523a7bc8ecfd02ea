// The types of the members of DPoP in a registration. A file that only declares them ends up in the declarations of the
// package, because the plug-in imports it.
declare module '../protocol/client' {
  interface ClientRegistration {
    /**
     * With `dpop()`. Whether each token request of the client needs a DPoP proof (RFC 9449 5.2). Default: the option
     * `required`.
     */
    readonly dpop_bound_access_tokens?: boolean | undefined
  }
}
