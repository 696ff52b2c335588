/**
 * Methods a request can have. The engine sends any other as GET without a word, which could be anything but what was meant, and
 * CONNECT asks for a tunnel.
 */
const methods = new Set(
  (
    "ACL BIND CHECKOUT COPY DELETE GET HEAD LINK LOCK M-SEARCH MERGE MKACTIVITY MKCALENDAR MKCOL MOVE NOTIFY OPTIONS PATCH POST " +
    "PROPFIND PROPPATCH PURGE PUT QUERY REBIND REPORT SEARCH SOURCE SUBSCRIBE TRACE UNBIND UNLINK UNLOCK UNSUBSCRIBE"
  ).split(" "),
);

/** In upper case. */
export const canSendMethod = (method: string): boolean => methods.has(method);
