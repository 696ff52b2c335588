import { describe, expect, test } from "bun:test";
import { nameOperation, nameTools, type NamedOperation } from "./tool-names.ts";

const operation = (fields: Partial<NamedOperation>): NamedOperation => ({
  method: "GET",
  path: "/things",
  operationId: null,
  tags: [],
  ...fields,
});

/** tag, operationId, path, name. A line here may be added, never changed: saved policies and code hold these names. */
const contract: [string | null, string | null, string, string][] = [
  ["issues", "issues/list-for-repo", "/repos/{owner}/{repo}/issues", "issues.list_for_repo"],
  ["code-scanning", "code-scanning/list-alerts-for-org", "/x", "code_scanning.list_alerts_for_org"],
  ["pets", "listPets", "/pets", "pets.list_pets"],
  ["Pet Store", "PetStore.Find-By ID", "/pets", "pet_store.find_by_id"],
  ["users", "getHTTPStatusV2", "/x", "users.get_http_status_v2"],
  ["users", "listURLs", "/x", "users.list_urls"],
  ["users", "users", "/x", "users.users"],
  ["user", "usersList", "/x", "user.users_list"],
  [null, "GetCustomers", "/v1/customers", "customers.get_customers"],
  [null, null, "/users/{id}", "users.get_users_by_id"],
  [null, null, "/api/v2/users/{userId}/posts", "users.get_api_v2_users_by_user_id_posts"],
  [null, null, "/files/{name}.{ext}", "files.get_files_by_name_by_ext"],
  [null, null, "/", "default.get_root"],
  [null, null, "/{id}", "default.get_by_id"],
  ["", "", "/a", "a.get_a"],
  ["__proto__", "__proto__", "/a", "proto_.proto_"],
  ["then", "then", "/a", "then_.then_"],
  ["x", "constructor", "/a", "x.constructor_"],
  ["x", "toString", "/a", "x.to_string"],
  ["x", "tostring", "/a", "x.tostring_"],
  ["x", "delete", "/a", "x.delete"],
  ["2fa", "3dSecure", "/a", "_2fa._3d_secure"],
  ["Événements", "créerÉvénement", "/a", "evenements.creer_evenement"],
  ["宠物", "列表", "/pets/{id}", "pets.get_pets_by_id"],
  ["x", "a;b\n`c`", "/a", "x.a_b_c"],
  ["x", "a".repeat(300), "/a", `x.${"a".repeat(51)}_9835fa6b`],
];

describe("nameOperation", () => {
  test.each(contract)("names tag %p, id %p at %p", (tag, operationId, path, name) => {
    expect(nameOperation(operation({ tags: tag === null ? [] : [tag], operationId, path }))).toBe(name);
  });

  test("S17: gives identifiers only, whatever comes", () => {
    for (const text of ["a.b", "../..", "\u0000", "${x}", "__defineGetter__", "🦊", "-", "0", "A".repeat(5_000)]) {
      expect(nameOperation(operation({ tags: [text], operationId: text }))).toMatch(
        /^[a-z_][a-z0-9_]{0,60}\.[a-z_][a-z0-9_]{0,60}$/,
      );
    }
  });
});

describe("nameTools", () => {
  const twins = [
    operation({ operationId: "same", method: "POST", tags: ["t"], path: "/a" }),
    operation({ operationId: "same", method: "GET", tags: ["t"], path: "/b" }),
    operation({ operationId: "other", tags: ["t"] }),
  ];

  test("S17, S20: suffixes what collides by its method and says so", () => {
    const told: string[] = [];
    expect(nameTools(twins, (_, wanted, name) => told.push(`${wanted} -> ${name}`))).toEqual([
      "t.same_post",
      "t.same",
      "t.other",
    ]);
    expect(told).toEqual(["t.same -> t.same_post"]);
  });

  test("gives the same names in any order and beside any other operation", () => {
    const more = [
      operation({ operationId: "z" }),
      ...twins,
      operation({ operationId: "same", method: "POST", tags: ["t"], path: "/c" }),
    ];
    const byPlace = (operations: NamedOperation[]): Map<string, string> => {
      const names = nameTools(operations, () => undefined);
      return new Map(
        operations.map(({ method, path, operationId }, at) => [`${method} ${path} ${operationId}`, names[at]!]),
      );
    };
    const forward = byPlace(more);
    expect([...byPlace(more.toReversed())].toSorted()).toEqual([...forward].toSorted());
    expect(new Set(forward.values()).size).toBe(more.length);
    expect(forward.get("GET /b same")).toBe("t.same");
  });

  test("never gives a suffixed name that another operation has", () => {
    const names = nameTools(
      [...twins, operation({ operationId: "same_post", tags: ["t"], path: "/d" })],
      () => undefined,
    );
    expect(new Set(names).size).toBe(4);
    expect(names[3]).toBe("t.same_post");
  });
});
