# An image with the one binary, run by a user of its own. Data lives in /data; give it a volume that this user (10001) may
# write to. Both stages are the same Debian release, so that the C library of the build is that of the image.
FROM rust:1.95-slim-trixie AS build
# The allocator is built with make.
RUN apt-get update && apt-get install --yes --no-install-recommends make && rm -rf /var/lib/apt/lists/*
WORKDIR /build
COPY . .
RUN cargo build --release --locked --bin millstream

FROM debian:trixie-slim
# Certificates for mail servers, LDAP, S3, push services and webhooks.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --user-group --no-create-home --shell /usr/sbin/nologin millstream \
    && install --directory --owner=millstream --group=millstream --mode=700 /data
COPY --from=build /build/target/release/millstream /usr/local/bin/millstream
ENV MILLSTREAM_DATA=/data MILLSTREAM_LISTEN=0.0.0.0:9991
USER millstream
VOLUME /data
EXPOSE 9991
COPY --chmod=755 packaging/entrypoint /usr/local/bin/millstream-entrypoint
# Healthy while requests are served and changes accepted. A large data folder may take minutes to open.
HEALTHCHECK --interval=30s --timeout=6s --start-period=5m --start-interval=2s CMD ["millstream", "health"]
ENTRYPOINT ["millstream-entrypoint"]
CMD ["serve"]
