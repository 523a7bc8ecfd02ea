// The type of the member of pushed requests in a registration. A file that only declares it ends up in the declarations of
// the package, because the plug-in imports it.
declare module '../protocol/client' {
  interface ClientRegistration {
    /**
     * With `pushedAuthorizationRequests()`. Whether every authorization request of the client must be pushed (RFC 9126
     * 6). Default: the option `required` of the plug-in.
     */
    readonly require_pushed_authorization_requests?: boolean | undefined
  }
}
